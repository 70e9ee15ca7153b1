import { makeFirstTables } from "./001-first-tables.ts";
import { makeOperationsAndEvents } from "./002-operations-and-events.ts";
import { makeClusters } from "./003-clusters.ts";
import { makeFleet } from "./004-fleet.ts";
import { addHostRevisions } from "./005-host-revisions.ts";
import { makeHubs } from "./006-hubs.ts";
import { makeFleetEvents } from "./007-fleet-events.ts";
import { makeSavedPlans } from "./008-saved-plans.ts";
import { makePlanApprovals } from "./009-plan-approvals.ts";
import { addGrants } from "./010-grants.ts";
import { makeProviderLogins } from "./011-provider-logins.ts";
import { nameMasterKeys } from "./012-master-keys.ts";
import { indexOperationsByResource } from "./013-operations-by-resource.ts";
import type { Migration } from "./migration.ts";

/** In order: the version of a database is the number of migrations applied. */
export const migrations: readonly Migration[] = [
  makeFirstTables,
  makeOperationsAndEvents,
  makeClusters,
  makeFleet,
  addHostRevisions,
  makeHubs,
  makeFleetEvents,
  makeSavedPlans,
  makePlanApprovals,
  addGrants,
  makeProviderLogins,
  nameMasterKeys,
  indexOperationsByResource,
];
