import { Code, ConnectError } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { codeToHttpStatus, errorFromJsonBytes, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { reachedKey, requestFactsKey } from "../../call/request-facts.ts";
import { connectErrorFromInfraError } from "../../errors/connect-error.ts";
import { infraErrorFromProtocolError } from "../../errors/protocol-error.ts";
import { compressions } from "../wire/compression.ts";
import { wrapHandler } from "./wrapped-handler.ts";

/** Bounds the buffer; no error of connect-es is nearly as large. */
const errorMaxBytes = 1 << 20;

/**
 * Returns the error to send for a request that connect-es refused before the call path; by default the same error.
 * @param header of the answer
 */
export type OnRefused = (
  request: UniversalServerRequest,
  header: Headers,
  error: InfraError,
) => Promise<InfraError>;

/**
 * Adds a reason to the errors that connect-es returns for a unary Connect request before the call path is reached: a body that
 * cannot be decoded, is too large, or has an unknown compression.
 */
export function withUnaryErrorReason(handler: UniversalHandler, onRefused: OnRefused): UniversalHandler {
  const handle = async (request: UniversalServerRequest) => {
    const answer = await handler(request);
    const isOurs = answer.status === 200 || request.contextValues?.get(reachedKey) === true;
    if (isOurs || answer.body === undefined || answer.header?.get("content-type") !== "application/json") {
      return answer;
    }
    const header = new Headers(answer.header);
    const compression = compressions.find(({ name }) => name === header.get("content-encoding"));
    const sent = await readAll(answer.body);
    const body = compression === undefined ? sent : await compression.decompress(sent, errorMaxBytes);
    const error = errorFromJsonBytes(body, header, new ConnectError("", Code.Internal));
    const reason =
      error.rawMessage === "internal error" ? hiddenErrorOf(request) : infraErrorFromProtocolError(error);
    const facts = request.contextValues?.get(requestFactsKey) ?? requestFactsKey.defaultValue;
    const refusal = await onRefused(request, header, reason);
    const refined = connectErrorFromInfraError(refusal, facts.peer.errorDetails);
    const bytes = errorToJsonBytes(refined, undefined);
    header.delete("content-encoding");
    header.set("content-length", String(bytes.byteLength));
    return { ...answer, status: codeToHttpStatus(refined.code), header, body: once(bytes) };
  };
  return wrapHandler(handler, handle);
}

/** Returns the error that connect-es hides: for a query a base64 error, for a body that its sender has left. */
function hiddenErrorOf(request: UniversalServerRequest): InfraError {
  return request.method === "GET"
    ? new InfraError("MALFORMED_REQUEST", "the query parameter message is not base64")
    : new InfraError("CALLER_LEFT", "the caller left before the request was complete");
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) {
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}
