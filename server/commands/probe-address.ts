import * as http from "node:http";
import * as https from "node:https";
import type { ListenAddress } from "../config/listen-address.ts";
import { requestIdHeader } from "../rpc/request-facts.ts";

/**
 * Who is found at an address: a `gateway`, something `other`, something that `closed` the connection unanswered, as a
 * gateway does that does not let this client in, or nobody (`refused`).
 */
export type Occupant = "gateway" | "other" | "closed" | "refused";

const probeTimeoutMs = 2000;

/** Asks an address for something that only a gateway answers, whether it lets this client do so or not. */
export function probeAddress(address: ListenAddress, isTls: boolean): Promise<Occupant> {
  return new Promise((settle) => {
    const options: https.RequestOptions = {
      ...targetOf(address),
      path: "/hostplane.v1.SystemService/GetInfo",
      method: "POST",
      headers: { "content-type": "application/json" },
      timeout: probeTimeoutMs,
      agent: false,
      // Nothing is told to whoever answers, and a certificate of the user's own authority is no other one's.
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
