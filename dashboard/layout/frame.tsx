import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Suspense } from "preact/compat";
import { useLayoutEffect } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { ActionDialog } from "../action/action-dialog.tsx";
import { isSandbox } from "../backend.ts";
import { host } from "../host/host.ts";
import { connection } from "../live/event-stream.ts";
import { Icon } from "../parts/icon.tsx";
import { listenToKeys, useKeys } from "../parts/keys.ts";
import { Skeleton } from "../parts/skeleton.tsx";
import { phoneQuery, useMedia } from "../parts/use-media.ts";
import type { Session } from "../session.ts";
import { closePanel, panel, SidePanel } from "../shell/side-panel.tsx";
import { Toasts } from "../shell/toasts.tsx";
import { isTrayOpen } from "../shell/tray-state.ts";
import { Account } from "./account.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
import { HostAway, isHostAway } from "./host-away.tsx";
import { HostSwitcher } from "./host-switcher.tsx";
import { isKeyHelpOpen, KeyHelp } from "./key-help.tsx";
import { Navigation } from "./navigation.tsx";
import { PageBoundary } from "./page-boundary.tsx";
import { type PageEntry, pageAt } from "./pages.ts";
import { openPalette, Palette } from "./palette.tsx";
import { SandboxMark } from "./sandbox-mark.tsx";
import { TopBar } from "./top-bar.tsx";
import { Tray } from "./tray/tray.tsx";
import { focusContent, usePlace } from "./use-place.ts";

/** The frame of every page: the navigation, the bar at the top, the side panel, the tray and the palette. */
export function Frame(props: {
  readonly pages: readonly PageEntry[];
  readonly session: Session & { readonly state: "in" };
  readonly children: ComponentChildren;
}) {
  const { caller, info } = props.session;
  const isHub = info.hub || host !== undefined;
  const isMenuOpen = useSignal(false);
  const [location] = useLocation();
  const page = pageAt(props.pages, location);
  usePlace(page, `hostplane${isSandbox.value ? " sandbox" : ""} on ${host ?? info.hostname}`, () => {
    isMenuOpen.value = false;
  });
  // A form belongs to the list or resource beside it.
  useLayoutEffect(closePanel, [location]);
  useFrameKeys(props.pages, isHub);
  const content = panel.value;
  const isPhone = useMedia(phoneQuery);
  const isAway = isHostAway(info.hub);
  const isStale = connection.value.state === "lost" || connection.value.state === "ended";
  return (
    <div class={`frame ${content === undefined ? "" : "with-panel"} ${isStale ? "stale" : ""}`}>
      <button type="button" class="skip" onClick={focusContent}>
        Skip to content
      </button>
      <div id="side" class={isMenuOpen.value ? "side open" : "side"}>
        <div class="gateway">
          {isHub && !isPhone ? (
            <HostSwitcher hub={info.hostname} />
          ) : (
            <Link href="/" title={`hostplane ${info.version}`}>
              <Icon name="server" />
              <span>{host ?? info.hostname}</span>
            </Link>
          )}
          <SandboxMark />
        </div>
        <Navigation pages={props.pages} />
        <Account caller={caller} version={info.version} />
      </div>
      <TopBar page={page} switcher={isHub && isPhone && <HostSwitcher hub={info.hostname} />} />
      <main id="content" tabIndex={-1}>
        {!isAway && <ConnectionBanner />}
        <PageBoundary key={page?.path}>
          <Suspense
            fallback={
              <div class="page">
                <Skeleton />
              </div>
            }
          >
            {isAway ? <HostAway /> : props.children}
          </Suspense>
        </PageBoundary>
      </main>
      {content !== undefined && (
        <Suspense fallback={null}>
          <SidePanel content={content} />
        </Suspense>
      )}
      <BottomBar
        location={location}
        isMenuOpen={isMenuOpen.value}
        onMenu={() => {
          isMenuOpen.value = !isMenuOpen.value;
        }}
      />
      <Tray />
      <Toasts />
      <ActionDialog />
      <Palette pages={props.pages} />
      <KeyHelp />
    </div>
  );
}

/** The navigation of a phone. */
function BottomBar(props: {
  readonly location: string;
  readonly isMenuOpen: boolean;
  readonly onMenu: () => void;
}) {
  const { location, isMenuOpen, onMenu } = props;
  return (
    <nav class="bottom" aria-label="Phone">
      <Link href="/" aria-current={location === "/" ? "page" : undefined}>
        <Icon name="home" />
        Overview
      </Link>
      <button type="button" aria-expanded={isMenuOpen} aria-controls="side" onClick={onMenu}>
        <Icon name="disk" />
        Menu
      </button>
      <Link href="/operations" aria-current={location.startsWith("/operations") ? "page" : undefined}>
        <Icon name="pulse" />
        Operations
      </Link>
      <button type="button" onClick={() => openPalette()}>
        <Icon name="search" />
        Search
      </button>
    </nav>
  );
}

function useFrameKeys(pages: readonly PageEntry[], isHub: boolean): void {
  const [, goTo] = useLocation();
  useLayoutEffect(listenToKeys, []);
  useLayoutEffect(() => {
    const open = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        openPalette();
      }
    };
    addEventListener("keydown", open);
    return () => removeEventListener("keydown", open);
  }, []);
  useKeys([
    {
      key: "?",
      does: "all keys",
      run: () => {
        isKeyHelpOpen.value = true;
      },
    },
    ...(isHub ? [{ key: "h", does: "choose a host", run: () => openPalette("hosts") }] : []),
    {
      key: "o",
      does: "operations tray",
      run: () => {
        isTrayOpen.value = !isTrayOpen.value;
      },
    },
    ...pages.flatMap(({ key, title, path }) =>
      key === undefined ? [] : [{ key: `g ${key}`, does: `go to ${title}`, run: () => goTo(path) }],
    ),
  ]);
}
