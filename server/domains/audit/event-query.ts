import { createHash } from "node:crypto";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { invalidField } from "../../../adapters/host/infra-error.ts";
import { reasons } from "../../../adapters/host/reasons.ts";
import type { ListEventsRequest } from "../../../gen/hostplane/v1/audit_pb.ts";
import type { AuditFilters } from "../../store/audit.ts";

/** One page of events, as it was asked for. */
export interface EventQuery {
  readonly filters: AuditFilters;
  readonly pageSize: number;
  /** Events below this number alone are on the page. */
  readonly belowSeq: number;
}

/** Finds what has no outcome. */
const unknownOutcome = "UNKNOWN_OUTCOME";

const outcomes: readonly string[] = [
  "OK",
  ...new Set(Object.values(reasons).map(({ code }): string => code)),
  unknownOutcome,
];

const pageSizeDefault = 100;
const pageSizeMax = 1000;
const textMaxLength = 1024;

/**
 * Reads which events are asked for.
 * @throws InfraError INVALID_FIELD
 */
export function parseEventQuery(request: ListEventsRequest): EventQuery {
  const { pageSize, pageToken, from, to, rpc, outcome } = request;
  if (pageSize < 0) {
    throw invalidField(
      "page_size",
      `expected 0 (which is ${pageSizeDefault}) to ${pageSizeMax}, got ${pageSize}`,
    );
  }
  if (rpc !== "" && !/^[\w.]{1,255}(\/\w{1,255})?$/.test(rpc)) {
    throw invalidField("rpc", 'expected "package.Service/Method" or "package.Service"');
  }
  if (outcome !== "" && !outcomes.includes(outcome)) {
    throw invalidField("outcome", `expected one of ${outcomes.join(", ")}`);
  }
  const filters: AuditFilters = {
    ...(from === undefined ? {} : { fromMs: msFrom("from", from) }),
    ...(to === undefined ? {} : { toMs: msFrom("to", to) }),
    ...textFilter("actor", request.actor),
    ...textFilter("address", request.address),
    ...(rpc === "" ? {} : { rpc }),
    ...textFilter("resource", request.resource.replace(/\/+$/, "")),
    ...(outcome === "" ? {} : { code: outcome === unknownOutcome ? null : outcome }),
  };
  return {
    filters,
    pageSize: pageSize === 0 ? pageSizeDefault : Math.min(pageSize, pageSizeMax),
    belowSeq: pageToken === "" ? Number.MAX_SAFE_INTEGER : seqFromToken(pageToken, filters),
  };
}

function textFilter<Name extends "actor" | "address" | "resource">(
  name: Name,
  text: string,
): { readonly [N in Name]?: string } {
  if (text.length > textMaxLength || text.includes("\0")) {
    throw invalidField(name, `expected at most ${textMaxLength} characters, and none that is NUL`);
  }
  return text === "" ? {} : ({ [name]: text } as { readonly [N in Name]: string });
}

/** Events have whole milliseconds; the first that is not before the time. */
function msFrom(field: string, { seconds, nanos }: Timestamp): number {
  // google/protobuf/timestamp.proto: from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z.
  const isTime = seconds >= -62_135_596_800n && seconds <= 253_402_300_799n && nanos >= 0 && nanos < 1e9;
  if (!isTime) {
    throw invalidField(field, "expected a time from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z");
  }
  return Number(seconds) * 1000 + Math.ceil(nanos / 1e6);
}

/** A token says where the page begins and, by their hash, for which filters. */
const seqBytes = 8;
const hashBytes = 12;

/** The token of the page behind the event `seq`. */
export function pageTokenFrom(seq: number, filters: AuditFilters): string {
  const bytes = Buffer.alloc(seqBytes);
  bytes.writeBigUInt64BE(BigInt(seq));
  return Buffer.concat([bytes, hashOf(filters)]).toString("base64url");
}

function seqFromToken(token: string, filters: AuditFilters): number {
  const bytes = Buffer.from(token, "base64url");
  const isOurs = bytes.length === seqBytes + hashBytes && bytes.toString("base64url") === token;
  const seq = isOurs ? bytes.readBigUInt64BE() : 0n;
  if (seq === 0n || seq > Number.MAX_SAFE_INTEGER) {
    throw invalidField("page_token", "expected the next_page_token of an answer");
  }
  if (!bytes.subarray(seqBytes).equals(hashOf(filters))) {
    throw invalidField(
      "page_token",
      "it is of a listing with other filters; take those of the first page again",
    );
  }
  return Number(seq);
}

/** The filters have one order, that of `parseEventQuery`. */
function hashOf(filters: AuditFilters): Buffer {
  return createHash("sha256").update(JSON.stringify(filters)).digest().subarray(0, hashBytes);
}
