import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { SavedPlan } from "../../../gen/hostplane/v1/plan_pb.ts";
import { useRead } from "../../live/use-read.ts";
import { Paging, usePages } from "../../parts/paging.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import type { Column, Filter } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { actorText } from "../../parts/text/actor-text.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client } from "../../session.ts";
import { Page } from "../../shell/page.tsx";
import { approvalsText, planStatus, planTitle } from "./plan-status.ts";

/** As many as the gateway returns at a time: the search and the filters work on them. */
const pageSize = 1000;

const columns: readonly Column<SavedPlan>[] = [
  { id: "change", title: "Change", cell: planTitle, sortBy: planTitle },
  {
    id: "state",
    title: "State",
    width: "medium",
    cell: (plan) => planStatus(plan).text,
    sortBy: (plan) => planStatus(plan).text,
    onCard: "place",
  },
  { id: "approvals", title: "Approvals", width: "short", rank: 2, cell: approvalsText, onCard: "figure" },
  {
    id: "actor",
    title: "By",
    width: "medium",
    cell: ({ actor }) => actorText(actor),
    sortBy: ({ actor }) => actor,
    onCard: "place",
  },
  { id: "method", title: "RPC", width: "wide", rank: 3, cell: ({ method }) => method },
  {
    id: "created",
    title: "Saved",
    width: "time",
    isNumber: true,
    cell: ({ createdAt }) => <TimeText at={createdAt} />,
    sortBy: ({ createdAt }) => (createdAt === undefined ? undefined : timestampMs(createdAt)),
    onCard: "figure",
  },
];

const filters: readonly Filter<SavedPlan>[] = [
  { id: "state", title: "state", valuesOf: (plan) => [planStatus(plan).text] },
  { id: "by", title: "by", valuesOf: ({ actor }) => [actorText(actor)] },
];

/** The user's saved plans, and those that need approval, newest first. */
export function PlanList() {
  const pages = usePages("");
  const { reading } = useRead(
    (options) => client.plans.listPlans({ pageSize, pageToken: pages.token }, options),
    { key: pages.token, topics: ["plan"] },
  );
  return (
    <Page title="Plans" note="newest first">
      <ReadState of={reading}>
        {({ plans, nextPageToken }) => (
          <>
            <DataTable
              caption="Plans"
              columns={columns}
              rows={plans}
              filters={filters}
              keyOf={({ id }) => id}
              titleOf={planTitle}
              pathOf={({ id }) => `/plans/${id}`}
              statusOf={planStatus}
              textOf={({ method, plan, actor }) => `${method} ${plan?.resource ?? ""} ${actor}`}
              hasTools
              empty={
                <>
                  <strong>No plans</strong>
                  <span>A change that another person has to approve is saved as a plan.</span>
                </>
              }
            />
            <Paging of={pages} nextToken={nextPageToken} what="plans" />
          </>
        )}
      </ReadState>
    </Page>
  );
}
