import type { DescService } from "@bufbuild/protobuf";
import type { DocumentedMethod } from "../../rpc/openapi/documented-method.ts";
import type { DocumentedContract } from "../../rpc/openapi/openapi-document.ts";

/** A contract, and whether the gateway is a sandbox. */
export interface PageContract extends DocumentedContract {
  readonly isSandbox: boolean;
}

/** A service with its documented methods. */
export interface DocumentedService {
  readonly service: DescService;
  readonly methods: readonly DocumentedMethod[];
}

/** Returns the services of a contract, in its order. */
export function servicesOf({ methods }: Pick<DocumentedContract, "methods">): readonly DocumentedService[] {
  return [...Map.groupBy(methods, ({ method }) => method.parent)].map(([service, ofService]) => ({
    service,
    methods: ofService,
  }));
}
