import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerWithFault } from "../../sandbox/answer-with-fault.ts";
import { type Clock, systemClock } from "../../sandbox/clock.ts";
import { createFaultList } from "../../sandbox/fault-list.ts";
import { type FakeAnswer, textAnswer } from "./answer.ts";
import { answerAnonymously, answerSigned, isEndpoint } from "./api.ts";
import { createSignatureCheck, type FakeUser } from "./check-signature.ts";
import { type Fault, type FaultMatch, type Faults, isMeant } from "./faults.ts";
import { createFakeRegion, type FakeRegion, type FakeRegionOptions } from "./region.ts";
import { type FakeRequest, readRequest } from "./request.ts";

/** A server on loopback that behaves like a MAAS 3.4.10 region controller, and is as strict. */
export interface MaasFake {
  /** E.g. `http://127.0.0.1:40123/MAAS`. */
  readonly url: string;
  readonly region: FakeRegion;
  /** All requests received, oldest first, including refused ones. */
  readonly requests: readonly FakeRequest[];
  /** Makes the next matching requests fail. */
  inject(match: FaultMatch, fault: Fault): void;
  /** Removes injected faults that have not been used yet. */
  clearFaults(): void;
  /** Closes every connection, until called with false. */
  setOutage(isOut: boolean): void;
  /** Sets by how much its clock is wrong; 0 by default. */
  setClockOffset(offsetMs: number): void;
  close(): Promise<void>;
}

export interface MaasFakeOptions extends Omit<FakeRegionOptions, "nowMs"> {
  readonly users: readonly FakeUser[];
  /** The time of its machines; the system's by default. */
  readonly clock?: Pick<Clock, "nowMs"> | undefined;
}

const prefix = "/MAAS/api/2.0/";
const keptRequests = 1_000;

/** Starts the server on a free port of 127.0.0.1. Close it to end open connections. */
export async function startMaasFake(options: MaasFakeOptions): Promise<MaasFake> {
  let clockOffsetMs = 0;
  let isOut = false;
  const { clock = systemClock } = options;
  const region = createFakeRegion({ ...options, nowMs: () => clock.nowMs() + clockOffsetMs });
  // Clients sign with the system's time, even while a test steps the clock.
  const signedNowMs = () => systemClock.nowMs() + clockOffsetMs;
  const checkSignature = createSignatureCheck(options.users, signedNowMs);
  const faults: Faults = createFaultList(isMeant);
  const requests: FakeRequest[] = [];
  const closing = new AbortController();

  function answer(request: FakeRequest): FakeAnswer {
    const path = request.path.startsWith(prefix) ? request.path.slice(prefix.length) : "";
    if (!isEndpoint(path)) {
      return textAnswer(404, `Unknown API endpoint: ${request.path}.`);
    }
    const anonymous = answerAnonymously(request.method, path);
    if (anonymous !== undefined) {
      return anonymous;
    }
    const user = checkSignature(request);
    if ("refusal" in user) {
      return user.refusal;
    }
    const { form } = request;
    if (form === undefined) {
      return textAnswer(500, "'dict' object has no attribute 'lists'");
    }
    return answerSigned(region, path, { ...request, user, form });
  }

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(message);
    requests.push(request);
    requests.splice(0, requests.length - keptRequests);
    const fault = faults.take(request);
    const reply = isOut
      ? undefined
      : await answerWithFault(fault, (faulty) => faulty ?? answer(request), closing.signal);
    if (reply === undefined) {
      message.socket.destroy();
      return;
    }
    const type = "json" in reply ? { "content-type": "application/json; charset=utf-8" } : {};
    const date = { date: new Date(signedNowMs()).toUTCString() };
    response.writeHead(reply.status, { ...date, ...type, ...reply.headers });
    response.end("json" in reply ? JSON.stringify(reply.json) : reply.text);
  }

  const server = createServer((message, response) => {
    serve(message, response).catch(() => message.socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // The server must not keep the process alive.
  server.unref();
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}/MAAS`,
    region,
    requests,
    inject: faults.add,
    clearFaults: faults.clear,
    setOutage(next) {
      isOut = next;
      if (next) {
        server.closeAllConnections();
      }
    },
    setClockOffset(offsetMs) {
      clockOffsetMs = offsetMs;
    },
    async close() {
      closing.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
