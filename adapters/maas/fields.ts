import { invalidField } from "../host/infra-error.ts";
import type { MaasAddressReservation, MaasDeployment, MaasRelease } from "./adapter.ts";
import type { Fields } from "./client.ts";
import type { MaasConstraints, MaasMachineFilter } from "./machine.ts";
import {
  assertAddress,
  assertAgentName,
  assertAnnotation,
  assertArchitecture,
  assertComment,
  assertHostname,
  assertPlaceName,
  assertSeries,
  assertSubnet,
  assertTag,
  assertUsername,
} from "./names.ts";

// Fields of MAAS's forms. Each function rejects invalid names. @throws InfraError INVALID_FIELD

type Assert = (value: string, field: string) => void;

function fieldOf(key: string, value: string | undefined, assert: Assert): Fields {
  if (value === undefined) {
    return [];
  }
  assert(value, key);
  return [[key, value]];
}

function fieldsOf(key: string, values: readonly string[] | undefined, assert: Assert): Fields {
  return (values ?? []).flatMap((value) => fieldOf(key, value, assert));
}

function countOf(key: string, count: number | undefined): Fields {
  if (count === undefined) {
    return [];
  }
  if (!Number.isSafeInteger(count) || count < 0) {
    throw invalidField(key, "must be a whole number of at least 0");
  }
  return [[key, String(count)]];
}

/** Returns the field `comment` of a change; none if there is no comment. @throws InfraError INVALID_FIELD */
export function commentField(comment: string | undefined): Fields {
  return fieldOf("comment", comment, assertComment);
}

/** Returns the constraints of an allocation in the names of MAAS's form; `mem` is in MiB. @throws InfraError INVALID_FIELD */
export function constraintFields(constraints: MaasConstraints): Fields {
  return [
    ...fieldsOf("tags", constraints.tags, assertTag),
    ...fieldsOf("not_tags", constraints.notTags, assertTag),
    ...fieldOf("pool", constraints.pool, assertPlaceName),
    ...fieldsOf("not_in_pool", constraints.notInPools, assertPlaceName),
    ...fieldOf("zone", constraints.zone, assertPlaceName),
    ...fieldsOf("not_in_zone", constraints.notInZones, assertPlaceName),
    ...fieldOf("arch", constraints.architecture, assertArchitecture),
    ...countOf("cpu_count", constraints.cpuCount),
    ...countOf("mem", constraints.memoryMib),
  ];
}

/** Returns the fields of a `machines` filter, except ids. */
export function filterFields({ owner, agentName }: MaasMachineFilter): Fields {
  return [...fieldOf("owner", owner, assertUsername), ...fieldOf("agent_name", agentName, assertAgentName)];
}

/** Returns the fields that set annotations. An annotation that is undefined is removed. */
export function annotationFields(annotations: Readonly<Record<string, string | undefined>>): Fields {
  return Object.entries(annotations).map(([key, value]) => {
    assertAnnotation(key, value, "annotations");
    // MAAS removes an annotation that is set to empty.
    return [key, value ?? ""];
  });
}

const maxUserDataBytes = 1024 * 1024;

/** Returns the fields of a deployment. User data is limited to 1 MiB and sent in Base64. */
export function deploymentFields({
  series,
  agentName,
  userData,
  hweKernel,
  isEphemeral,
  comment,
}: MaasDeployment): Fields {
  const data = userData === undefined ? undefined : Buffer.from(userData);
  if (data !== undefined && data.length > maxUserDataBytes) {
    throw invalidField("user_data", `must be at most ${maxUserDataBytes} bytes, is ${data.length}`);
  }
  return [
    ...fieldOf("distro_series", series, assertSeries),
    ...fieldOf("agent_name", agentName, assertAgentName),
    ...fieldOf("hwe_kernel", hweKernel, assertSeries),
    ...(isEphemeral === true ? ([["ephemeral_deploy", "true"]] satisfies Fields) : []),
    ...commentField(comment),
    ...(data === undefined ? [] : ([["user_data", data.toString("base64")]] satisfies Fields)),
  ];
}

/** Returns the fields of a release. MAAS takes `quick_erase` only together with `erase`. @throws InfraError INVALID_FIELD */
export function releaseFields({ comment, erase }: MaasRelease): Fields {
  const erasing: Fields = erase === undefined ? [] : [["erase", "true"]];
  const quickly: Fields = erase === "quick" ? [["quick_erase", "true"]] : [];
  return [...commentField(comment), ...erasing, ...quickly];
}

/** Returns the fields of an address reservation, which needs a subnet or an address. */
export function reservationFields({ subnet, address, hostname }: MaasAddressReservation): Fields {
  if (subnet === undefined && address === undefined) {
    throw invalidField("subnet", "must be set, unless an address is given");
  }
  return [
    ...fieldOf("subnet", subnet, assertSubnet),
    ...fieldOf("ip", address, assertAddress),
    ...fieldOf("hostname", hostname, assertHostname),
  ];
}
