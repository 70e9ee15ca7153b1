import type { DomainProblem } from "../../../../gen/hostplane/v1/inventory_pb.ts";

/** A domain of a host whose resources are missing or stale, as the host reports it. */
export interface HostDomainProblem {
  readonly domain: string;
  readonly reason: string;
  readonly message: string;
}

/** Every answer of the inventory contains the problems of all hosts, so no host may have many. */
const problemsMax = 32;
const nameMaxLength = 100;
const messageMaxLength = 1000;

/** Returns the problems that a host has reported, as many and as long as a hub shows. */
export function hostProblemsFrom(
  problems: readonly Pick<DomainProblem, keyof HostDomainProblem>[],
): readonly HostDomainProblem[] {
  return problems.slice(0, problemsMax).map(({ domain, reason, message }) => ({
    domain: domain.slice(0, nameMaxLength),
    reason: reason.slice(0, nameMaxLength),
    message: message.slice(0, messageMaxLength),
  }));
}
