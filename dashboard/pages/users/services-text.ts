import type { Grant } from "../../../gen/hostplane/v1/user_pb.ts";

/** Returns the services of a user or token as text: `all`, their names, or what its grants cover. */
export function servicesText({
  services,
  grants,
}: {
  readonly services: readonly string[];
  readonly grants: readonly Grant[];
}): string {
  return grants.length === 0 ? namesText(services) : grants.map(grantText).join("; ");
}

function grantText({ services, methods, hosts, hostLabels, resources }: Grant): string {
  const labels = hostLabels.map(({ name, value }) => (value === "" ? name : `${name}=${value}`));
  const parts = [
    methods.length === 0 ? namesText(services) : methods.join(", "),
    ...(resources.length === 0 ? [] : [`for ${resources.join(", ")}`]),
    ...(hosts.length + labels.length === 0 ? [] : [`on ${[...hosts, ...labels].join(", ")}`]),
  ];
  return parts.join(" ");
}

function namesText(names: readonly string[]): string {
  return names.length === 0 ? "all" : names.join(", ");
}
