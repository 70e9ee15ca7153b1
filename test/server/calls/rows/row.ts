import type { JsonObject } from "@bufbuild/protobuf";
import { adminPassword } from "../../harness/gateway-under-test.ts";

/** Result of a call in every protocol: the (first) message as JSON, or an error. */
export interface Row {
  readonly path: string;
  readonly request: JsonObject;
  readonly answer?: object;
  readonly error?: { readonly code: string; readonly reason: string; readonly fields?: readonly string[] };
}

export function answers(path: string, request: JsonObject, answer: object): Row {
  return { path, request, answer };
}

export function refuses(
  path: string,
  request: JsonObject,
  code: string,
  reason: string,
  ...fields: string[]
): Row {
  return { path, request, error: { code, reason, fields } };
}

export const gib = (count: number) => String(count * 2 ** 30);

export const admin = { username: "admin", password: adminPassword };

export const noOperation = "00000000-0000-4000-8000-000000000000";
