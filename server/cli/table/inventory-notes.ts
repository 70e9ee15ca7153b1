import type { ListResourcesResponse } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { timeText } from "./time-text.ts";

/** Describes the domains and hosts whose resources are missing, old or incomplete, one a line. */
export function inventoryNotes({ problems, hosts }: ListResourcesResponse): string[] {
  return [
    ...problems.map(({ host, domain, message }) => `${host === "" ? "" : `${host}: `}${domain}: ${message}`),
    ...hosts
      .filter(({ message }) => message !== "")
      .map(({ message, readTime }) =>
        readTime === undefined ? message : `${message}; its resources are as of ${timeText(readTime)}`,
      ),
  ];
}
