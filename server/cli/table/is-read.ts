import type { DescMethod } from "@bufbuild/protobuf";

/** `NO_SIDE_EFFECTS` of google.protobuf.MethodOptions, whose module every start of the command line would have to load. */
const noSideEffects = 1;

/** Reports whether the contract says that an RPC changes nothing. */
export function isRead({ idempotency }: Pick<DescMethod, "idempotency">): boolean {
  return idempotency === noSideEffects;
}
