import type { MessageInitShape } from "@bufbuild/protobuf";
import { InvalidArgumentError } from "commander";
import { type Grant, type GrantSchema, Role, RoleSchema } from "../../../../gen/hostplane/v1/user_pb.ts";
import { enumText } from "../../../cli/table/enum-text.ts";
import type { ValueType } from "../../../cli/table/parameter.ts";

type GrantMessage = MessageInitShape<typeof GrantSchema>;

const roles: Readonly<Record<string, Role>> = {
  viewer: Role.VIEWER,
  operator: Role.OPERATOR,
  admin: Role.ADMIN,
};

const lists = ["services", "methods", "hosts", "labels", "resources"] as const;

/** A grant as `operator services=proto.LVService resources=volumeGroups/vg0/volumes/db-*`. The gateway checks its values. */
export const grantValue: ValueType<GrantMessage> = { placeholder: "grant", parse: parseGrant };

function parseGrant(text: string): GrantMessage {
  const [roleName = "", ...bounds] = text.split(/\s+/).filter((word) => word !== "");
  const role = Object.hasOwn(roles, roleName) ? roles[roleName] : undefined;
  if (role === undefined) {
    throw new InvalidArgumentError("expected a role first: viewer, operator or admin");
  }
  const values = new Map(bounds.map(parseBound));
  if (values.size < bounds.length) {
    throw new InvalidArgumentError("a bound is given twice; separate its values with commas");
  }
  const { labels = [], ...others } = Object.fromEntries(values);
  return { role, ...others, hostLabels: labels.map(labelFrom) };
}

function parseBound(bound: string): readonly [string, string[]] {
  const at = bound.indexOf("=");
  const name = lists.find((each) => each === bound.slice(0, at));
  const values = bound.slice(at + 1).split(",");
  if (name === undefined || values.includes("")) {
    throw new InvalidArgumentError(`expected ${lists.map((each) => `${each}=VALUE,...`).join(", ")}`);
  }
  return [name, values];
}

function labelFrom(text: string): { name: string; value: string } {
  const [name = "", ...value] = text.split("=");
  return { name, value: value.join("=") };
}

/** Returns a grant in the form that `grantValue` reads. */
export function grantText({ role, hostLabels, ...of }: Grant): string {
  const labels = hostLabels.map(({ name, value }) => (value === "" ? name : `${name}=${value}`));
  const bounds = {
    services: of.services,
    methods: of.methods,
    hosts: of.hosts,
    labels,
    resources: of.resources,
  };
  return [
    enumText(RoleSchema, role),
    ...Object.entries(bounds).flatMap(([name, values]) =>
      values.length === 0 ? [] : `${name}=${values.join(",")}`,
    ),
  ].join(" ");
}
