import { PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import { plannersOf } from "../../domain/change.ts";
import type { DomainContext, DomainServices } from "../../domain/domain-services.ts";
import { createPodAccess } from "./access.ts";
import { createPodChanges } from "./changes/pod-changes.ts";
import { createListenEvents } from "./events/listen-events.ts";
import { createOwnChanges } from "./events/own-changes.ts";
import { createPodObserver } from "./events/pod-observer.ts";
import { createPodLogs } from "./logs/pod-logs.ts";
import { createPodBackend } from "./monitoring/backend.ts";
import { createPodFigures } from "./monitoring/figures.ts";
import { createPodResources } from "./monitoring/resources.ts";
import { createPodService } from "./pod-service.ts";
import { createPromptReads } from "./prompt-reads.ts";
import { createPublicApiService } from "./service.ts";
import type { PodSystem } from "./system/system.ts";

/** Creates the services for pods and images. */
export function servePods(system: PodSystem, context: DomainContext): DomainServices {
  const { log } = context;
  const { exact, prompt, isLate } = createPromptReads(system.runtime);
  const own = createOwnChanges();
  const onFailed = (error: unknown) => log.warn("events of pods could not be published; retrying", error);
  const observer = createPodObserver({ ...context, runtime: exact, own, onFailed });
  const { importTimes } = observer;
  const changes = createPodChanges({ ...context, runtime: exact, own });
  const logs = createPodLogs({ ...context, runtime: prompt });
  const listenEvents = createListenEvents(context);
  return {
    registrations: [
      createPublicApiService({ runtime: prompt, importTimes, logs, listenEvents }),
      createPodService({ runtime: prompt, importTimes, changes }),
    ],
    planners: [plannersOf(PodService, changes)],
    access: createPodAccess(prompt),
    backends: [createPodBackend(prompt, isLate)],
    inventory: [createPodResources(prompt)],
    figures: [createPodFigures(prompt)],
    observe: () => observer.begin(),
  };
}
