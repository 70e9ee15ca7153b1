import { type EventFilter, type EventRecord, isWanted } from "./event-record.ts";

/** Subscribers who want the same, as of when it was last looked at. */
export interface SubscriberGroup<Member> {
  readonly filter: EventFilter;
  readonly members: Set<Member>;
}

/**
 * Subscribers by what they want, so that it is decided once for all who want the same. With a thousand of them, asking each
 * for every event takes longer than writing it to them.
 */
export interface SubscriberGroups<Member> {
  readonly members: ReadonlySet<Member>;
  /** @throws what a getter of the member's filter throws */
  add(member: Member): void;
  delete(member: Member): void;
  wanting(record: EventRecord): SubscriberGroup<Member>[];
  /**
   * Looks again at what the callers of all members may see.
   * @param onFailed told of the member whose filter throws, and what it throws
   */
  refresh(onFailed: (member: Member, error: unknown) => void): void;
}

export function createSubscriberGroups<
  Member extends { readonly filter: EventFilter },
>(): SubscriberGroups<Member> {
  const groups = new Map<string, SubscriberGroup<Member>>();
  const groupOf = new Map<Member, SubscriberGroup<Member>>();
  const members = new Set<Member>();

  function put(member: Member, services: EventFilter["services"]): void {
    const { topics, resources, operationId } = member.filter;
    const key = JSON.stringify([topics, resources, operationId, services && [...services].toSorted()]);
    const own = operationId === undefined ? {} : { operationId };
    const group = groups.get(key) ?? { filter: { topics, resources, services, ...own }, members: new Set() };
    groups.set(key, group);
    group.members.add(member);
    groupOf.set(member, group);
  }

  return {
    members,
    add(member) {
      put(member, member.filter.services);
      members.add(member);
    },
    delete(member) {
      members.delete(member);
      groupOf.get(member)?.members.delete(member);
      groupOf.delete(member);
    },
    wanting(record) {
      return [...groups.values()].filter(({ filter }) => isWanted(record, filter));
    },
    refresh(onFailed) {
      for (const [member, group] of groupOf) {
        try {
          const { services } = member.filter;
          if (services !== group.filter.services) {
            group.members.delete(member);
            put(member, services);
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
