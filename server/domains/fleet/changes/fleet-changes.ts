import { type Duration, durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { invalidField } from "../../../../adapters/host/infra-error.ts";
import type {
  CreateHostTokenRequest,
  FleetService,
  RemoveHostRequest,
  SetHostLabelsRequest,
} from "../../../../gen/hostplane/v1/fleet_pb.ts";
import type { ChangesOf } from "../../../domain/change.ts";
import { lifetimeText } from "../../../domain/lifetime-text.ts";
import { createStoredChange, type StoredChange } from "../../../domain/stored-change.ts";
import type { Hub, RequestedToken } from "../../../fleet/hub/hub.ts";
import type { HostRecord } from "../../../fleet/store/hosts.ts";
import { factsOf } from "../../../operations/plan-facts.ts";
import { hostMessage } from "../host-message.ts";
import { parseLabels } from "../parse-labels.ts";

/** The changes of hostplane.v1.FleetService. */
export type FleetChanges = ChangesOf<typeof FleetService, "createHostToken" | "setHostLabels" | "removeHost">;

const minuteMs = 60_000;
const lifetime = { defaultMs: 60 * minuteMs, leastMs: minuteMs, mostMs: 24 * 60 * minuteMs };

/** @param hub returns the hub. @throws InfraError NOT_A_HUB */
export function createFleetChanges(hub: () => Hub): FleetChanges {
  return {
    createHostToken: createStoredChange(createTokenChange(hub), ({ token, expiresAtMs }) => ({
      token,
      expiresAt: timestampFromMs(expiresAtMs),
    })),
    setHostLabels: createStoredChange(createLabelChange(hub), (record) => ({
      host: hostMessage(record, hub()),
    })),
    removeHost: createStoredChange(createRemoveChange(hub), () => ({})),
  };
}

function createTokenChange(
  hub: () => Hub,
): StoredChange<CreateHostTokenRequest, RequestedToken, { token: string; expiresAtMs: number }> {
  return {
    kind: "fleet.createToken",
    resourceOf: ({ host }) => (host === "" ? "hosts" : `hosts/${host}`),
    parse: ({ host, labels, lifetime: asked }, actor) => ({
      host,
      labels: parseLabels(labels),
      lifetimeMs: parseLifetime(asked),
      createdBy: actor,
    }),
    apply: (spec, how) => hub().createToken(spec, how),
    describe: ({ host, lifetimeMs }) => ({
      changes: [
        `${host === "" ? "one host" : `host ${host}`} may join the fleet within ${lifetimeText(lifetimeMs)}`,
      ],
    }),
  };
}

/** @throws InfraError INVALID_FIELD */
function parseLifetime(asked: Duration | undefined): number {
  const lifetimeMs = asked === undefined ? lifetime.defaultMs : durationMs(asked);
  if (lifetimeMs < lifetime.leastMs || lifetimeMs > lifetime.mostMs) {
    throw invalidField("lifetime", "expected 1 minute to 24 hours");
  }
  return lifetimeMs;
}

interface LabelledHost {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

function createLabelChange(hub: () => Hub): StoredChange<SetHostLabelsRequest, LabelledHost, HostRecord> {
  return {
    kind: "fleet.setLabels",
    resourceOf: ({ name }) => `hosts/${name}`,
    parse: ({ name, labels }) => ({ name, labels: parseLabels(labels) }),
    apply: ({ name, labels }, how) => hub().setLabels(name, labels, how),
    describe: ({ name, labels }, { id }) => ({
      facts: factsOf(`hosts/${name}`, { id }),
      changes: [
        `labels of host ${name}: ${Object.entries(labels)
          .map(([label, value]) => `${label}=${value}`)
          .join(", ")}`,
      ],
    }),
  };
}

function createRemoveChange(hub: () => Hub): StoredChange<RemoveHostRequest, string, HostRecord> {
  return {
    kind: "fleet.removeHost",
    resourceOf: ({ name }) => `hosts/${name}`,
    parse: ({ name }) => name,
    apply: (name, how) => hub().removeHost(name, how),
    describe: (name, { id }) => ({
      facts: factsOf(`hosts/${name}`, { id }),
      changes: [`host ${name} is removed from the fleet; the host itself keeps running`],
      losses: [`the membership of host ${name}: it needs a new token to join again`],
    }),
  };
}
