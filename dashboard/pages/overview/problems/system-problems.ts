import type { DomainProblem } from "../../../../gen/hostplane/v1/inventory_pb.ts";
import { type Backend, BackendHealth } from "../../../../gen/hostplane/v1/system_pb.ts";
import { isLacking } from "../../../parts/health/backend-health.ts";
import { type Problem, ranks } from "./problem.ts";

const pagesOfDomains: Readonly<Record<string, string>> = {
  volumes: "/volumes",
  storage: "/storage",
  hypervisors: "/hypervisors",
  clusters: "/clusters",
  pods: "/pods",
  backups: "/volumes",
};

/** Returns the problems of systems, each with the command or sentence that helps, and of domains that cannot be read. */
export function systemProblems(
  backends: readonly Backend[],
  domainProblems: readonly DomainProblem[],
): readonly Problem[] {
  const lacking = backends.filter(isLacking);
  const known = new Set(lacking.map(({ domain }) => domain));
  return [
    ...lacking.map(problemOfSystem),
    ...domainProblems.filter(({ domain }) => !known.has(domain)).map(problemOfDomain),
  ];
}

function problemOfSystem({ domain, name, health, missing }: Backend): Problem {
  const isAway = health === BackendHealth.UNAVAILABLE;
  const cause = missing.join("; ");
  return {
    key: `system ${domain} ${name}`,
    severity: isAway ? "failed" : "warn",
    rank: ranks.system,
    title: `${name || domain} is ${isAway ? "unreachable" : "degraded"}`,
    cause,
    command: commandIn(cause),
    place: domain,
    path: pagesOfDomains[domain],
  };
}

function problemOfDomain({ domain, message }: DomainProblem): Problem {
  return {
    key: `domain ${domain}`,
    severity: "failed",
    rank: ranks.system,
    title: `The ${domain} cannot be read`,
    cause: message,
    command: commandIn(message),
    place: domain,
    path: pagesOfDomains[domain],
  };
}

/** Returns the first command in a sentence: it is between backticks and has an argument. */
function commandIn(sentence: string): string | undefined {
  return [...sentence.matchAll(/`([^`]+)`/g)]
    .map(([, command = ""]) => command)
    .find((each) => each.includes(" "));
}
