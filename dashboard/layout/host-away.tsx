import { addressOfHosts } from "../host/address-of-host.ts";
import { host } from "../host/host.ts";
import { hasBeenLive } from "../live/event-stream.ts";
import { hosts, shownHost } from "../live/hosts.ts";
import { ErrorNote } from "../parts/error-note.tsx";
import { Note } from "../parts/note.tsx";
import { TimeText } from "../parts/text/time-text.tsx";
import { Page } from "../shell/page.tsx";

/**
 * Reports whether the host that the page shows is not connected to the hub, or is not in its fleet, and has not answered since the
 * page was opened. Later the page keeps what it shows.
 * @param isHub whether the gateway that served the page is a hub
 */
export function isHostAway(isHub: boolean): boolean {
  const isKnown = !isHub || hosts.value.hosts !== undefined || hosts.value.error !== undefined;
  return host !== undefined && !hasBeenLive.value && isKnown && shownHost.value?.connected !== true;
}

/** Shown in place of the pages of a host that has not answered since this page was opened. They open by themselves. */
export function HostAway() {
  const { hosts: all, error } = hosts.value;
  const lastSeenAt = shownHost.value?.lastSeenAt;
  return (
    <Page title="">
      {error !== undefined && <ErrorNote error={error} />}
      {error === undefined && (
        <Note tone="bad" role="status">
          {shownHost.value === undefined ? (
            <strong>
              {all === undefined
                ? "This gateway is not the hub of a fleet."
                : `The fleet has no host ${host}.`}
            </strong>
          ) : (
            <span>
              <strong>{host} is unreachable: it is not connected to the hub.</strong>{" "}
              {lastSeenAt === undefined ? (
                "It has never been connected."
              ) : (
                <>
                  Last seen <TimeText at={lastSeenAt} />.
                </>
              )}{" "}
              This page continues as soon as the host is back.
            </span>
          )}
        </Note>
      )}
      <p>{all === undefined ? <a href="/">This gateway</a> : <a href={addressOfHosts}>All hosts</a>}</p>
    </Page>
  );
}
