import type { MessageInitShape } from "@bufbuild/protobuf";
import type { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { MissingHostSchema } from "../../../../gen/hostplane/v1/operation_pb.ts";

export type MissingHost = MessageInitShape<typeof MissingHostSchema>;

/** Describes a host that did not answer. */
export function missingHost(host: string, { reason, message }: InfraError): MissingHost {
  return { host, reason, message };
}
