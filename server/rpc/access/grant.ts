import { z } from "zod";
import { callerRoles } from "./caller-role.ts";
import { explainPattern } from "./resource-pattern.ts";

/** Grants of one account at most, and their size as JSON: a hub sends them to its hosts in a header. */
export const grantsMax = 32;
export const grantsMaxBytes = 8192;

const entriesMax = 64;

const serviceName = z
  .string()
  .max(200)
  .regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$/, {
    error: "expected the full name of a service, such as proto.LVService",
  });

const methodPath = z
  .string()
  .max(200)
  .regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+\/[A-Za-z_]\w*$/, {
    error: "expected a method as service/method, such as proto.LVService/RemoveLV",
  });

const hostPattern = z
  .string()
  .max(63)
  .regex(/^[a-z0-9*]([-a-z0-9*]*[a-z0-9*])?$/, {
    error: "expected the name of a host, in which `*` stands for any characters",
  });

const hostLabel = z
  .strictObject({
    name: z.string().min(1).max(63).meta({ description: "Name of the label." }),
    value: z.string().max(63).default("").meta({ description: "Its value; any if empty." }),
  })
  .meta({ description: "A label of a host." });

const resourcePattern = z.string().superRefine((text, context) => {
  const message = explainPattern(text);
  if (message !== undefined) {
    context.addIssue({ code: "custom", message });
  }
});

/**
 * A grant: a role for some methods on some hosts and resources. What is absent is not limited. The services of methods and users
 * that exist are checked where a grant is created (`assertGrants`).
 */
export const grantSchema = z
  .strictObject({
    role: z.enum(callerRoles).meta({ description: "Role within the bounds of the grant." }),
    services: z.array(serviceName).min(1).max(entriesMax).exactOptional().meta({
      description: "Full names of services. All if absent.",
    }),
    methods: z.array(methodPath).min(1).max(entriesMax).exactOptional().meta({
      description: "Methods, such as proto.LVService/RemoveLV, in place of whole services.",
    }),
    hosts: z.array(hostPattern).min(1).max(entriesMax).exactOptional().meta({
      description: "Names of hosts, with the wildcard `*`. All if absent.",
    }),
    hostLabels: z.array(hostLabel).min(1).max(16).exactOptional().meta({
      description: "Labels that a host must have, all of them.",
    }),
    resources: z.array(resourcePattern).min(1).max(entriesMax).exactOptional().meta({
      description:
        "Names of resources as in the inventory, with the wildcard `*`, such as volumeGroups/vg0/volumes/db-*. Each also covers everything below it. All if absent.",
    }),
  })
  .superRefine(({ role, services, methods, hosts, hostLabels, resources }, context) => {
    if (services !== undefined && methods !== undefined) {
      context.addIssue({
        code: "custom",
        path: ["methods"],
        message: "cannot be combined with services; use two grants",
      });
    }
    const isBounded = hosts !== undefined || hostLabels !== undefined || resources !== undefined;
    if (role === "admin" && isBounded && services === undefined && methods === undefined) {
      context.addIssue({
        code: "custom",
        path: ["role"],
        message:
          "admin of some hosts or resources needs services or methods: it could grant itself the others",
      });
    }
  });

export type Grant = Unchanging<z.infer<typeof grantSchema>>;

type Unchanging<T> = { readonly [K in keyof T]: Unchanging<T[K]> };

/** A host that a grant may cover. */
export interface GrantedHost {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Reports whether a grant has bounds beyond a role and services. */
export function isBounded({ methods, hosts, hostLabels, resources }: Grant): boolean {
  return [methods, hosts, hostLabels, resources].some((bound) => bound !== undefined);
}

/** Describes a grant, such as `operator of proto.LVService on hosts web-* for volumeGroups/vg0/volumes/db-*`. */
export function describeGrant({ role, services, methods, hosts, hostLabels, resources }: Grant): string {
  const labels = (hostLabels ?? []).map(({ name, value }) => (value === "" ? name : `${name}=${value}`));
  return [
    `${role} of ${(methods ?? services ?? ["all services"]).join(", ")}`,
    ...(hosts === undefined ? [] : [`on hosts ${hosts.join(", ")}`]),
    ...(labels.length === 0 ? [] : [`on hosts labelled ${labels.join(", ")}`]),
    ...(resources === undefined ? [] : [`for ${resources.join(", ")}`]),
  ].join(" ");
}
