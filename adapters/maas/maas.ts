import { invalidField } from "../host/infra-error.ts";
import type { MaasAdapter, MaasRelease } from "./adapter.ts";
import { acceptedValue, createMaasCalls, sameMachine } from "./calls.ts";
import { createMaasClient, type Fields, type MaasClientOptions } from "./client.ts";
import { errorFromReservation } from "./errors.ts";
import {
  annotationFields,
  commentField,
  constraintFields,
  deploymentFields,
  releaseFields,
  reservationFields,
} from "./fields.ts";
import { inspectMaas } from "./inspect.ts";
import { assertAddress, assertAgentName, assertSystemId } from "./names.ts";
import {
  parseAddress,
  parseAddresses,
  parseEvents,
  parseImages,
  parseMachine,
  parsePools,
  parseRanges,
  parseSubnets,
  parseTags,
  parseVersion,
} from "./parse-reply.ts";

export interface MaasOptions extends MaasClientOptions {
  /** Method of erasing disks at a release that does not specify it; MAAS's own setting by default. */
  readonly eraseDisks?: MaasRelease["erase"];
  /** Identity of the adapter for a sandbox, whose server has a different address each time. */
  readonly as?: Pick<MaasAdapter, "kind" | "url"> | undefined;
}

const maxEvents = 1000;

/** Creates the adapter for a MAAS region. It connects at the first call. */
export function createMaas(options: MaasOptions): MaasAdapter {
  const { kind, url } = options.as ?? { kind: "real", url: options.url };
  const erasing = options.eraseDisks === undefined ? {} : { erase: options.eraseDisks };
  const client = createMaasClient(options);

  const { read, change, changeMachine, machine, machines, whoami } = createMaasCalls(client);

  const adapter: Omit<MaasAdapter, "inspect"> = {
    kind,
    url,
    whoami,
    version(signal) {
      return read({ what: "read its version", path: "version/" }, parseVersion, signal);
    },
    machines: (filter = {}, signal) => machines(filter, signal),
    machine,
    async choose(constraints, signal) {
      const form: Fields = [...constraintFields(constraints), ["dry_run", "true"]];
      const request = { what: "choose a machine", path: "machines/", op: "allocate", form };
      return read(request, parseMachine, signal);
    },
    async allocate({ systemId, agentName, constraints = {}, comment }) {
      assertSystemId(systemId, "system_id");
      assertAgentName(agentName, "agent_name");
      const form: Fields = [
        ["system_id", systemId],
        ["agent_name", agentName],
        ...constraintFields(constraints),
        ...commentField(comment),
      ];
      const description = { what: "allocate", systemId };
      return change({ ...description, path: "machines/", op: "allocate", form }, (reply) =>
        sameMachine(parseMachine(acceptedValue(reply, description)), systemId),
      );
    },
    async annotate(systemId, annotations) {
      assertSystemId(systemId, "system_id");
      const form = annotationFields(annotations);
      return changeMachine(systemId, "annotate", "set_workload_annotations", form);
    },
    async deploy(systemId, deployment) {
      assertSystemId(systemId, "system_id");
      return changeMachine(systemId, "deploy", "deploy", deploymentFields(deployment));
    },
    async release(systemId, release = {}) {
      assertSystemId(systemId, "system_id");
      return changeMachine(systemId, "release", "release", releaseFields({ ...erasing, ...release }));
    },
    async lock(systemId, comment) {
      assertSystemId(systemId, "system_id");
      return changeMachine(systemId, "lock", "lock", commentField(comment));
    },
    async unlock(systemId, comment) {
      assertSystemId(systemId, "system_id");
      return changeMachine(systemId, "unlock", "unlock", commentField(comment));
    },
    async abort(systemId, comment) {
      assertSystemId(systemId, "system_id");
      return changeMachine(systemId, "abort", "abort", commentField(comment));
    },
    async markBroken(systemId, comment) {
      assertSystemId(systemId, "system_id");
      return changeMachine(systemId, "mark broken", "mark_broken", commentField(comment));
    },
    images(signal) {
      return read({ what: "list the boot resources", path: "boot-resources/" }, parseImages, signal);
    },
    tags(signal) {
      return read({ what: "list the tags", path: "tags/" }, parseTags, signal);
    },
    pools(signal) {
      return read({ what: "list the pools", path: "resourcepools/" }, parsePools, signal);
    },
    addresses(signal) {
      return read({ what: "list the addresses", path: "ipaddresses/" }, parseAddresses, signal);
    },
    subnets(signal) {
      return read({ what: "list the subnets", path: "subnets/" }, parseSubnets, signal);
    },
    addressRanges(signal) {
      return read({ what: "list the ranges of addresses", path: "ipranges/" }, parseRanges, signal);
    },
    async reserveAddress(reservation) {
      const form = reservationFields(reservation);
      const description = { what: "reserve an address" };
      return change({ ...description, path: "ipaddresses/", op: "reserve", form }, (reply) => {
        if ("refusal" in reply) {
          throw errorFromReservation(reply.refusal, description);
        }
        return parseAddress(reply.value);
      });
    },
    async releaseAddress(address) {
      assertAddress(address, "address");
      const description = { what: "release an address" };
      const form: Fields = [["ip", address]];
      await change({ ...description, path: "ipaddresses/", op: "release", form }, (reply) => {
        // `IP address 10.20.0.9 does not exist, is not the correct type of address, or does not belong to the requesting user.`
        const isGone = "refusal" in reply && /^IP address \S+ does not exist/.test(reply.refusal.words);
        return isGone || acceptedValue(reply, description);
      });
    },
    async events(systemId, limit, signal) {
      assertSystemId(systemId, "system_id");
      if (!Number.isInteger(limit) || limit < 1 || limit > maxEvents) {
        throw invalidField("limit", `must be from 1 to ${maxEvents}`);
      }
      const query: Fields = [
        ["id", systemId],
        ["limit", String(limit)],
      ];
      return read({ what: "list the events", path: "events/", op: "query", query }, parseEvents, signal);
    },
    close: client.close,
  };
  return { ...adapter, inspect: () => inspectMaas(adapter) };
}
