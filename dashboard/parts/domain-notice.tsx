import { type Backend, BackendHealth, BackendKind } from "../../gen/hostplane/v1/system_pb.ts";
import { useRead } from "../live/use-read.ts";
import { client } from "../session.ts";
import { Note } from "./note.tsx";

/**
 * Shows what is wrong with a domain's systems and how to fix each; nothing if all is well.
 * @param domain its name in ListBackends and in topics of events
 */
export function DomainNotice({ domain }: { readonly domain: string }) {
  const { reading } = useRead((options) => client.system.listBackends({}, options), {
    topics: [domain],
    key: domain,
  });
  const lacking = reading.value.value?.backends.filter(
    (backend) => backend.domain === domain && isLacking(backend),
  );
  return (
    <>
      {lacking?.map(({ name, kind, health, missing }) => (
        <Note key={name} tone="warn" role="status">
          <strong>
            {name === "" ? domain : name} {stateText(kind, health)}
          </strong>
          <ul>
            {missing.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </Note>
      ))}
    </>
  );
}

function isLacking({ health, missing }: Backend): boolean {
  return health === BackendHealth.UNAVAILABLE || health === BackendHealth.DEGRADED || missing.length > 0;
}

function stateText(kind: BackendKind, health: BackendHealth): string {
  if (kind === BackendKind.OFF) {
    return "is not configured";
  }
  if (kind === BackendKind.NOT_BUILT) {
    return "is not supported by this version";
  }
  return health === BackendHealth.UNAVAILABLE ? "is unreachable" : "is degraded";
}
