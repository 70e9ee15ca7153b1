import { isUtf8 } from "node:buffer";
import { Code, ConnectError } from "@connectrpc/connect";

/**
 * Decodes the text of a JSON body.
 * @throws ConnectError INVALID_ARGUMENT for bytes that are not UTF-8, which connect-es and Node replace by U+FFFD
 */
export function jsonTextOf(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) {
    throw new ConnectError("the body is not UTF-8", Code.InvalidArgument);
  }
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
