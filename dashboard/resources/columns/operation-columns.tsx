import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Operation } from "../../../gen/hostplane/v1/operation_pb.ts";
import { isOpenState } from "../../live/open-state.ts";
import { operationStateText, operationStatus } from "../../parts/operation/operation-state.ts";
import type { Column } from "../../parts/table/column.ts";
import { actorText } from "../../parts/text/actor-text.ts";
import { operationTitle } from "../../parts/text/operation-title.ts";
import { TimeText } from "../../parts/text/time-text.tsx";

/** Columns of a table of operations. */
export const operationColumns: readonly Column<Operation>[] = [
  { id: "operation", title: "Operation", cell: operationTitle, sortBy: operationTitle },
  {
    id: "state",
    title: "State",
    width: "short",
    cell: ({ state, progress }) =>
      `${operationStateText(state)}${progress === undefined || !isOpenState(state) ? "" : `, ${Math.round(progress * 100)} %`}`,
    sortBy: ({ state }) => operationStateText(state),
    onCard: "place",
  },
  {
    id: "message",
    title: "Result",
    width: "wide",
    cell: ({ error, attention, message }) => error?.message ?? attention?.left[0] ?? message,
    onCard: "figure",
  },
  {
    id: "actor",
    title: "Started by",
    width: "short",
    rank: 3,
    cell: ({ actor }) => actorText(actor),
    sortBy: ({ actor }) => actor,
    onCard: "place",
  },
  {
    id: "at",
    title: "Started",
    width: "time",
    isNumber: true,
    cell: ({ createdAt }) => <TimeText at={createdAt} />,
    sortBy: ({ createdAt }) => (createdAt === undefined ? undefined : timestampMs(createdAt)),
    onCard: "place",
  },
];

/** What every table of operations has in common. */
export const operationRow = {
  keyOf: ({ id }: Operation) => id,
  titleOf: operationTitle,
  pathOf: ({ id }: Operation) => `/operations/${id}`,
  statusOf: ({ state }: Operation) => ({ kind: operationStatus(state), text: operationStateText(state) }),
  textOf: ({ kind, resource, fleetHost, actor, message, error }: Operation) =>
    `${kind} ${resource} ${fleetHost} ${actor} ${message} ${error?.message ?? ""}`,
};
