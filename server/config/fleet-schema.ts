import { z } from "zod";
import { methodPath, serviceName } from "./contract-names.ts";
import { parseListenAddress } from "./listen-address.ts";

const tcpAddress = z.string().superRefine((text, context) => {
  const address = parseListenAddress(text);
  if (typeof address === "string" || address.kind === "unix") {
    context.addIssue({ code: "custom", message: "expected host:port or [ipv6]:port" });
  }
});

/** Name of a host in a fleet. */
export const fleetHostName = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, {
    error: "expected the name of a host in the fleet: lower-case letters, digits and '-'",
  });

const hub = z.strictObject({
  listen: tcpAddress.default("0.0.0.0:8443").meta({
    description:
      "Where agents connect, by TLS 1.3 with certificates that the hub issues; port 0 selects a free port.",
  }),
  addresses: z.array(tcpAddress).min(1).max(16).exactOptional().meta({
    description:
      "Addresses at which agents reach this hub, such as hub-1.example.org:8443. Join tokens contain them, and those of all other hubs on the same database. If absent, the name of this host with the port of `listen`.",
  }),
});

const ceiling = z.strictObject({
  role: z.enum(["viewer", "operator", "admin"]).default("operator").meta({
    description: "Highest role of callers of a hub on this host.",
  }),
  services: z.array(serviceName).min(1).exactOptional().meta({
    description: "Full names of the services that callers of a hub may call. All if absent.",
  }),
  reservedMethods: z.array(methodPath).default([]).meta({
    description:
      "Methods that callers of a hub may not call, such as proto.LVService/RemoveLV: they need this host's local socket.",
  }),
  protect: z
    .array(z.string().min(1).max(1000))
    .default([])
    .meta({
      description:
        "Resources that callers of a hub may not change, with the wildcards `*`, `?` and `**`, such as volumeGroups/vg0/volumes/root.",
      examples: [["volumeGroups/vg0/volumes/root", "hypervisors/**"]],
    }),
});

/** The key `fleet`. */
export const fleetSchema = z.strictObject({
  hub: hub.exactOptional().meta({
    description:
      "Makes this gateway a hub: hosts join it, and its callers reach them. A hub has no `volumes`, `hypervisors` and `pods` of its own. `hub: {}` is enough.",
  }),
  agent: z
    .strictObject({
      ceiling: ceiling.prefault({}).meta({
        description: "What callers of a hub may do on this host at most, whatever the hub says.",
      }),
    })
    .prefault({})
    .meta({
      description: "This gateway as a host of a fleet, once it has joined one by `hostplane host join`.",
    }),
});
