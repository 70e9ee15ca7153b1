import { type EventBounds, type EventFilter, type EventRecord, matches } from "./event-record.ts";

/** Subscribers with equal filters, as of the last refresh. */
export interface SubscriberGroup<Member> {
  readonly filter: EventFilter;
  readonly members: Set<Member>;
}

/**
 * Groups subscribers by filter, so that each event is matched once per group. With a thousand subscribers, matching each of
 * them takes longer than writing the event to them.
 */
export interface SubscriberGroups<Member> {
  readonly members: ReadonlySet<Member>;
  /** @throws the errors of a getter of the member's filter */
  add(member: Member): void;
  delete(member: Member): void;
  matching(record: EventRecord): SubscriberGroup<Member>[];
  /**
   * Reads the `services` and `bounds` of all members again.
   * @param onFailed called with a member whose filter throws, and the error
   */
  refresh(onFailed: (member: Member, error: unknown) => void): void;
}

/** Starts without members. Filters are compared by value, their bounds by identity. */
export function createSubscriberGroups<
  Member extends { readonly filter: EventFilter },
>(): SubscriberGroups<Member> {
  const groups = new Map<string, SubscriberGroup<Member>>();
  const groupOf = new Map<Member, SubscriberGroup<Member>>();
  const members = new Set<Member>();

  const numbers = new WeakMap<EventBounds, number>();
  let lastNumber = 0;

  /** Returns a number that stands for the bounds in a key. */
  function numberOf(bounds: EventBounds): number {
    const number = numbers.get(bounds) ?? ++lastNumber;
    numbers.set(bounds, number);
    return number;
  }

  function put(member: Member, { services, bounds }: Pick<EventFilter, "services" | "bounds">): void {
    const { topics, resources, operationId, fleetHosts } = member.filter;
    const key = JSON.stringify([
      topics,
      resources,
      operationId,
      fleetHosts,
      services && [...services].toSorted(),
      bounds && numberOf(bounds),
    ]);
    const group = groups.get(key) ?? { filter: { ...member.filter, services, bounds }, members: new Set() };
    groups.set(key, group);
    group.members.add(member);
    groupOf.set(member, group);
  }

  return {
    members,
    add(member) {
      put(member, member.filter);
      members.add(member);
    },
    delete(member) {
      members.delete(member);
      groupOf.get(member)?.members.delete(member);
      groupOf.delete(member);
    },
    matching(record) {
      return [...groups.values()].filter(({ filter }) => matches(record, filter));
    },
    refresh(onFailed) {
      for (const [member, group] of groupOf) {
        try {
          const { services, bounds } = member.filter;
          if (services !== group.filter.services || bounds !== group.filter.bounds) {
            group.members.delete(member);
            put(member, { services, bounds });
          }
        } catch (error) {
          onFailed(member, error);
        }
      }
      for (const [key, group] of groups) {
        if (group.members.size === 0) {
          groups.delete(key);
        }
      }
    },
  };
}
