import { create, type DescMessage, fromBinary, fromJson, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { PlanRequest } from "../../../gen/hostplane/v1/plan_pb.ts";
import { infraErrorFromProtocolError } from "../../rpc/protocol-error.ts";

/**
 * The request of the call that is planned, read as the call itself would read it; an empty one when none is given.
 * @throws InfraError UNKNOWN_FIELD, INVALID_FIELD, MALFORMED_REQUEST
 */
export function parsePlannedRequest(schema: DescMessage, request: PlanRequest["request"]): Message {
  try {
    switch (request.case) {
      case "json":
        return fromJson(schema, request.value, { ignoreUnknownFields: false });
      case "binary":
        return fromBinary(schema, request.value);
      case undefined:
        return create(schema);
    }
  } catch (error) {
    throw infraErrorFromProtocolError(ConnectError.from(error, Code.InvalidArgument));
  }
}
