import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { invalidField } from "../../../adapters/host/infra-error.ts";

const pageSizeUsual = 100;

/** The largest page of any list. */
export const pageSizeMax = 1000;
const textMaxLength = 1024;

/**
 * Parses the field `page_size`: the maximum number of rows of a page.
 * @param sizeOfZero what 0 stands for
 * @throws InfraError INVALID_FIELD
 */
export function parsePageSize(pageSize: number, sizeOfZero: number = pageSizeUsual): number {
  if (pageSize < 0) {
    throw invalidField(
      "page_size",
      `expected 0 (the default of ${sizeOfZero}) to ${pageSizeMax}, got ${pageSize}`,
    );
  }
  return pageSize === 0 ? sizeOfZero : Math.min(pageSize, pageSizeMax);
}

/**
 * Parses a text filter to a property to spread; none if the text is empty.
 * @throws InfraError INVALID_FIELD for a text that no row can hold
 */
export function parseTextFilter<Name extends string>(
  name: Name,
  text: string,
): { readonly [N in Name]?: string } {
  if (text.length > textMaxLength || text.includes("\0")) {
    throw invalidField(name, `expected at most ${textMaxLength} characters, without NUL`);
  }
  return text === "" ? {} : ({ [name]: text } as { readonly [N in Name]: string });
}

/**
 * Parses the fields `from` and `to` to properties to spread.
 * @throws InfraError INVALID_FIELD also if the range ends before it begins
 */
export function parseTimes({
  from,
  to,
}: {
  readonly from?: Timestamp | undefined;
  readonly to?: Timestamp | undefined;
}): { readonly fromMs?: number; readonly toMs?: number } {
  const fromMs = from && parseTime("from", from);
  const toMs = to && parseTime("to", to);
  if (fromMs !== undefined && toMs !== undefined && fromMs > toMs) {
    throw invalidField("to", "expected a time that is not before `from`");
  }
  return { ...(fromMs === undefined ? {} : { fromMs }), ...(toMs === undefined ? {} : { toMs }) };
}

/**
 * Returns a time in milliseconds since the epoch, rounded up, because rows have whole milliseconds.
 * @throws InfraError INVALID_FIELD
 */
export function parseTime(field: string, { seconds, nanos }: Timestamp): number {
  // google/protobuf/timestamp.proto: from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z.
  const isTime = seconds >= -62_135_596_800n && seconds <= 253_402_300_799n && nanos >= 0 && nanos < 1e9;
  if (!isTime) {
    throw invalidField(field, "expected a time from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z");
  }
  return Number(seconds) * 1000 + Math.ceil(nanos / 1e6);
}
