import { host } from "../host/host.ts";
import { hosts, shownHost } from "../live/hosts.ts";
import { Icon } from "../parts/icon.tsx";
import { Status } from "../parts/status.tsx";
import { openPalette } from "./palette.tsx";

/** Shows which host of the fleet the page shows, and opens the list of all. @param hub name of the hub */
export function HostSwitcher({ hub }: { readonly hub: string }) {
  const isAway = host !== undefined && hosts.value.hosts !== undefined && shownHost.value?.connected !== true;
  return (
    <button
      type="button"
      class="bare switcher"
      aria-label={host === undefined ? `Hub ${hub}, choose a host` : `Host ${host}, choose another`}
      title={host === undefined ? `Hub ${hub}` : `Host ${host} of ${hub}`}
      onClick={() => openPalette("hosts")}
    >
      {isAway && <Status kind="failed" text="unreachable" />}
      <span>{host ?? hub}</span>
      <Icon name="down" />
    </button>
  );
}
