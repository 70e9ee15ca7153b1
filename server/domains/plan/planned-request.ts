import { create, type DescMessage, fromBinary, fromJson, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { PlanRequest } from "../../../gen/hostplane/v1/plan_pb.ts";
import { infraErrorFromProtocolError } from "../../rpc/errors/protocol-error.ts";

/**
 * Parses the request of the planned call exactly as the call would; without one, an empty request.
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
