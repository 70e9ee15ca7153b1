import type { Reason } from "../../../adapters/host/define-reasons.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { GrantedHost } from "../../rpc/access/grant.ts";
import type { Call } from "../../rpc/call/call.ts";
import type { Caller } from "../../rpc/call/caller.ts";
import { methodPathOf } from "../../rpc/call/method-rule.ts";
import { infraErrorFrom } from "../../rpc/errors/connect-error.ts";
import { rpcReasons } from "../../rpc/reasons.ts";
import type { HubOfCaller } from "../caller/hub-caller-of.ts";

/** Notices that the access of a caller changes: a host knows only what the hub has said when the call began. */
export interface AccessWatch {
  /**
   * Returns a function that throws when what the caller may do on the host is not what it was at the call of `check`.
   * The function throws InfraError NOT_GRANTED, and UNAUTHENTICATED reasons once the credential is no longer accepted.
   */
  check(call: Call, host: string): () => void;
  /**
   * Ends a stream when the labels of its host change what the caller's grants allow there. Changes of the caller itself end it as
   * well (`createAuthorization`).
   * @returns a function that stops it
   */
  add(call: Call, host: string): () => void;
}

/** As for the streams of the hub itself. */
const recheckMs = 1000;

interface Watched {
  readonly call: Call;
  readonly assertSame: () => void;
}

/** What the access of a caller on a host follows from. */
interface Basis {
  readonly caller: Caller;
  readonly labels: GrantedHost["labels"];
}

const noLabels = {};

/** @param hub its hosts have the labels that grants may name; they are compared once a second while streams are open */
export function createAccessWatch(hub: HubOfCaller): AccessWatch {
  const streams = new Set<Watched>();
  let timer: NodeJS.Timeout | undefined;

  function check(call: Call, host: string, reason: Reason = rpcReasons.NOT_GRANTED): () => void {
    const basisOf = (caller: Caller): Basis => ({
      caller,
      labels: hub.hosts.find(host)?.labels ?? noLabels,
    });
    let known = basisOf(call.caller);
    return () => {
      const now = basisOf(call.caller.current());
      if (!isSame(now, known) && accessOf(now, host) !== accessOf(known, host)) {
        const message = `what ${call.caller.actor} may do on host ${host} has changed; call ${methodPathOf(call.method)} again`;
        throw new InfraError(reason, message);
      }
      known = now;
    };
  }

  function recheck(): void {
    for (const watched of streams) {
      try {
        watched.assertSame();
      } catch (error) {
        streams.delete(watched);
        watched.call.end(infraErrorFrom(error));
      }
    }
  }

  return {
    check,
    add(call, host) {
      if (call.caller.grants === undefined) {
        return () => {};
      }
      const watched = { call, assertSame: check(call, host, rpcReasons.ACCESS_CHANGED) };
      streams.add(watched);
      timer ??= setInterval(recheck, recheckMs).unref();
      return () => {
        streams.delete(watched);
        if (streams.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      };
    },
  };
}

/** Reports whether two bases have the same values, and therefore give the same access. */
function isSame({ caller, labels }: Basis, other: Basis): boolean {
  const { role, services, grants } = other.caller;
  return (
    caller.role === role &&
    caller.services === services &&
    caller.grants === grants &&
    labels === other.labels
  );
}

/** Describes what a caller may do on a host. */
function accessOf({ caller: { role, services, grants }, labels }: Basis, name: string): string {
  return JSON.stringify([role, services && [...services].toSorted(), grants?.onHost({ name, labels })]);
}
