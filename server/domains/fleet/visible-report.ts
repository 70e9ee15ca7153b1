import type { HostReport } from "../../../gen/hostplane/v1/fleet_pb.ts";
import type { Visibility } from "../../domain/visibility.ts";

/** Domain of the volume groups, which the figures are about. */
const domainOfFigures = "volumes";

/** Returns the report of a host without the figures that a caller may not see, and without details that may name any resource. */
export function visibleReport(
  report: HostReport,
  host: string,
  { services: callable, bounds }: Visibility,
): HostReport {
  const services = report.backends.flatMap(({ domain, services: all }) =>
    domain === domainOfFigures ? all : [],
  );
  const isCallable = callable === undefined || services.some((name) => callable.has(name));
  return {
    ...report,
    figures: report.figures.filter(
      ({ resource }) => isCallable && bounds?.covers({ services, resource, host }) !== false,
    ),
    backends:
      bounds === undefined ? report.backends : report.backends.map((one) => ({ ...one, missing: [] })),
  };
}
