import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Suspense } from "preact/compat";
import { Link, useLocation } from "wouter-preact";
import { ActionDialog } from "../action/action-dialog.tsx";
import type { Session } from "../session.ts";
import { Account } from "./account.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
import { ConnectionState } from "./connection-state.tsx";
import { Navigation } from "./navigation.tsx";
import { PageBoundary } from "./page-boundary.tsx";
import { type PageEntry, pageAt } from "./pages.ts";
import { SandboxMark } from "./sandbox-mark.tsx";
import { focusContent, usePlace } from "./use-place.ts";

/** The frame of every page: the gateway's name, the navigation, the user and the state of the connection. */
export function Frame(props: {
  readonly pages: readonly PageEntry[];
  readonly session: Session & { readonly state: "in" };
  readonly children: ComponentChildren;
}) {
  const { caller, info } = props.session;
  const isMenuOpen = useSignal(false);
  const page = pageAt(props.pages, useLocation()[0]);
  usePlace(page, `hostplane${info.sandbox ? " sandbox" : ""} on ${info.hostname}`, () => {
    isMenuOpen.value = false;
  });
  return (
    <div class="frame">
      <header>
        <button type="button" class="skip" onClick={focusContent}>
          Skip to content
        </button>
        <button
          type="button"
          class="menu"
          aria-expanded={isMenuOpen.value}
          aria-controls="side"
          onClick={() => {
            isMenuOpen.value = !isMenuOpen.value;
          }}
        >
          Menu
        </button>
        <Link href="/" class="name">
          hostplane
        </Link>
        <SandboxMark />
        <span class="host" title={`hostplane ${info.version}`}>
          {info.hostname}
        </span>
        <ConnectionState />
      </header>
      <div id="side" class={isMenuOpen.value ? "side open" : "side"}>
        <Navigation pages={props.pages} />
        <Account caller={caller} version={info.version} />
      </div>
      <main id="content" tabIndex={-1}>
        <ConnectionBanner />
        <PageBoundary key={page?.path}>
          <Suspense
            fallback={
              <p role="status" class="reading">
                Loading …
              </p>
            }
          >
            {props.children}
          </Suspense>
        </PageBoundary>
      </main>
      <ActionDialog />
    </div>
  );
}
