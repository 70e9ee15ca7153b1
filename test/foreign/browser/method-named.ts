import type { DescMethod } from "@bufbuild/protobuf";
import { EventService } from "../../../gen/hostplane/v1/event_pb.ts";
import { OperationsService } from "../../../gen/operations/v1/operations_pb.ts";
import { LVService, VGService } from "../../../gen/proto/lvmd_pb.ts";
import { PublicAPI } from "../../../gen/v1alpha/api_pb.ts";

const services = [LVService, VGService, PublicAPI, OperationsService, EventService];

/** Returns the descriptor of a method that the page calls. @param path `package.Service/Method` */
export function methodNamed(path: string): DescMethod {
  const method = services
    .flatMap(({ methods }): readonly DescMethod[] => methods)
    .find(({ parent, name }) => `${parent.typeName}/${name}` === path);
  if (method === undefined) {
    throw new Error(`the page has no code for ${path}`);
  }
  return method;
}
