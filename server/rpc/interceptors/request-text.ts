import { type DescMessage, type Message, toJsonString } from "@bufbuild/protobuf";
import { hasSecretFields, withoutSecrets } from "../call/secret-fields.ts";

const requestMaxBytes = 4096;
const cutMark = "…";

/** Returns the request as JSON without its secrets, cut to 4 KiB of UTF-8 with a final `…` if it is longer. */
export function requestText(type: DescMessage, message: Message): string | undefined {
  const text = jsonText(type, hasSecretFields(type) ? withoutSecrets(type, message) : message);
  if (text === undefined || Buffer.byteLength(text) <= requestMaxBytes) {
    return text;
  }
  const bytes = Buffer.from(text).subarray(0, requestMaxBytes - Buffer.byteLength(cutMark));
  // A decoder in stream mode drops a character that is cut in two.
  return new TextDecoder().decode(bytes, { stream: true }) + cutMark;
}

/**
 * Returns undefined for a message without a JSON form, such as a timestamp in the year 10,000. Whether such a call is refused is
 * decided elsewhere.
 */
function jsonText(type: DescMessage, message: Message): string | undefined {
  try {
    return toJsonString(type, message);
  } catch {
    return undefined;
  }
}
