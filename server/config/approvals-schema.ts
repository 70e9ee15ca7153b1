import { z } from "zod";
import { serviceOrMethod } from "./contract-names.ts";

const minutesPerDay = 24 * 60;

const rule = z.strictObject({
  methods: z.array(serviceOrMethod).min(1).exactOptional().meta({
    description:
      "Full names of methods, such as proto.LVService/RemoveLV, or of services, such as proto.LVService. Every change that has a plan if absent.",
  }),
  destroysData: z.boolean().default(false).meta({
    description: "Whether the rule is only for changes whose plan names a permanent loss.",
  }),
  roles: z
    .array(z.enum(["operator", "admin"]))
    .min(1)
    .exactOptional()
    .meta({
      description: "Roles of the callers: `operator`, `admin`. Any if absent.",
    }),
  callers: z
    .array(z.enum(["person", "token", "program"]))
    .min(1)
    .exactOptional()
    .meta({
      description:
        "Kinds of callers: `person` (a user), `token` (an API token), `program` (a listener with `auth: none`, or the admin socket). Any if absent.",
    }),
  approvals: z.int().min(0).max(2).meta({
    description: "How many other people have to approve the change; 0: none.",
  }),
  withinMinutes: z.int().min(1).max(minutesPerDay).default(minutesPerDay).meta({
    description: "How long after the proposal the change can be approved and made, in minutes.",
  }),
});

/** The key `approvals`. */
export const approvalsSchema = z.strictObject({
  rules: z.array(rule).max(1000).default([]).meta({
    description:
      "The first rule that matches a change decides. A change that no rule matches needs no approval.",
  }),
});
