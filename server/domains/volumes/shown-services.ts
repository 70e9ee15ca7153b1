import {
  LVService as CurrentLVService,
  VGService as CurrentVGService,
} from "../../../gen/lvmd/current/lvmd_pb.ts";
import {
  LVService as PublishedLVService,
  VGService as PublishedVGService,
} from "../../../gen/proto/lvmd_pb.ts";
import type { ShownServices } from "../../rpc/call/service-handlers.ts";

/** Published descriptors of proto.LVService and proto.VGService, by lvmd protocol. */
export const shownLvServices: ShownServices = { backups: PublishedLVService, current: CurrentLVService };
export const shownVgServices: ShownServices = { backups: PublishedVGService, current: CurrentVGService };
