import { Code, ConnectError } from "@connectrpc/connect";
import { codeFromString, errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hubCallerHeader } from "../../rpc/interceptors/known-headers.ts";
import { encodeHubCaller, type HubCaller } from "../caller/hub-caller.ts";
import { answerBroken, hostUnreachable } from "../host-errors.ts";
import type { HostLink } from "../links/host-link.ts";
import { fleetReasons } from "../reasons.ts";

/** A unary call of the hub on a host. */
export interface HostCall {
  /** `package.Service/Method` */
  readonly methodPath: string;
  readonly contentType: "application/json" | "application/proto";
  readonly body: Uint8Array;
  readonly caller: HubCaller;
  readonly timeoutMs: number;
  /** Largest answer that is read. */
  readonly answerMaxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Makes a unary call on a host by the Connect protocol.
 * @returns the message of the answer, in the form of the request
 * @throws ConnectError of the host; InfraError HOST_UNREACHABLE, BAD_HOST_ANSWER, and the signal's reason
 */
export async function callHost(link: HostLink, call: HostCall): Promise<Uint8Array> {
  const { methodPath, contentType, body, caller, timeoutMs } = call;
  const signal = AbortSignal.any([call.signal, link.closed, AbortSignal.timeout(timeoutMs)]);
  const stream = link.request({
    ":method": "POST",
    ":path": `/${methodPath}`,
    "content-type": contentType,
    "connect-protocol-version": "1",
    "connect-timeout-ms": String(timeoutMs),
    [hubCallerHeader]: encodeHubCaller(caller),
  });
  const end = () => stream.destroy();
  signal.addEventListener("abort", end, { once: true });
  let status = 0;
  try {
    stream.once("response", (headers) => {
      status = Number(headers[":status"]);
    });
    stream.end(body);
    const answer = await readAll(stream, call.answerMaxBytes);
    // A stream that is destroyed may end like one that is complete.
    signal.throwIfAborted();
    if (status === 200) {
      return answer;
    }
    if (status === 0) {
      throw answerBroken(link.host, stream.rstCode, status !== 0);
    }
    throw errorFromJsonBytes(answer, undefined, new ConnectError(`HTTP status ${status}`, codeOf(status)));
  } catch (thrown) {
    if (call.signal.aborted) {
      throw call.signal.reason;
    }
    if (thrown instanceof ConnectError || thrown instanceof InfraError) {
      throw thrown;
    }
    throw signal.aborted && !link.closed.aborted
      ? hostUnreachable(link.host, `no answer within ${timeoutMs} ms`)
      : answerBroken(link.host, stream.rstCode, status !== 0);
  } finally {
    signal.removeEventListener("abort", end);
    stream.destroy();
  }
}

async function readAll(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of stream) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes) {
      throw new InfraError(fleetReasons.BAD_HOST_ANSWER, `the answer has more than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function codeOf(status: number): Code {
  return status === 404 ? (codeFromString("unimplemented") ?? Code.Unknown) : Code.Unavailable;
}
