import * as http from "node:http";
import * as https from "node:https";
import type { ListenAddress } from "../../config/listen-address.ts";
import { requestIdHeader } from "../../rpc/call/request-facts.ts";

/**
 * What answers at an address: a hostplane `gateway`; something `other`; something that `closed` the connection without an
 * answer, as a gateway does when it does not accept the client; or nothing (`refused`).
 */
export type Occupant = "gateway" | "other" | "closed" | "refused";

const probeTimeoutMs = 2000;

/** Sends a request that only a gateway answers, even when it denies this client access. */
export function probeAddress(address: ListenAddress, isTls: boolean): Promise<Occupant> {
  return new Promise((settle) => {
    const options: https.RequestOptions = {
      ...targetOf(address),
      path: "/hostplane.v1.SystemService/GetInfo",
      method: "POST",
      headers: { "content-type": "application/json" },
      timeout: probeTimeoutMs,
      agent: false,
      // The request contains no secrets, and a certificate from a private CA does not indicate another program.
      rejectUnauthorized: false,
    };
    const probe = isTls ? https.request(options) : http.request(options);
    probe.on("response", (response) => {
      response.resume();
      settle(response.headers[requestIdHeader] === undefined ? "other" : "gateway");
    });
    probe.on("timeout", () => {
      settle("other");
      probe.destroy();
    });
    probe.on("error", (error) => settle(occupantFromError("code" in error ? String(error.code) : "")));
    probe.end("{}");
  });
}

function targetOf(address: ListenAddress): https.RequestOptions {
  if (address.kind === "unix") {
    return { socketPath: address.path };
  }
  const { host, port } = address;
  const loopback: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  return { host: loopback[host] ?? host, port };
}

function occupantFromError(code: string): Occupant {
  if (code === "ECONNREFUSED") {
    return "refused";
  }
  return code === "ECONNRESET" || code.endsWith("_ALERT_CERTIFICATE_REQUIRED") ? "closed" : "other";
}
