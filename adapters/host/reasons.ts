/**
 * The codes with which a call may fail, by their gRPC names. UNKNOWN is missing on purpose: the gateway never returns
 * it.
 */
export type ErrorCode =
  | "CANCELLED"
  | "INVALID_ARGUMENT"
  | "DEADLINE_EXCEEDED"
  | "NOT_FOUND"
  | "ALREADY_EXISTS"
  | "PERMISSION_DENIED"
  | "RESOURCE_EXHAUSTED"
  | "FAILED_PRECONDITION"
  | "ABORTED"
  | "OUT_OF_RANGE"
  | "UNIMPLEMENTED"
  | "INTERNAL"
  | "UNAVAILABLE"
  | "DATA_LOSS"
  | "UNAUTHENTICATED";

interface Reason {
  readonly code: ErrorCode;
  /** Whether the same call may succeed later without any change to it. */
  readonly retryable: boolean;
  /** One sentence for a user who sees the reason for the first time; docs/errors.md repeats it. */
  readonly meaning: string;
}

/**
 * Every reason that an error can have in `google.rpc.ErrorInfo.reason`. A reason has exactly one code, so a client may
 * branch on either. docs/errors.md lists the same rows, which test/adapters/host/reasons.test.ts checks.
 */
export const reasons = {
  // Invalid requests
  MALFORMED_REQUEST: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning: "The body, a header or a query parameter could not be decoded; the message says where.",
  },
  INVALID_FIELD: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning: "A field has a value outside its limits; each violation names the field and the limit.",
  },
  UNKNOWN_FIELD: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning:
      "A mutation carries a JSON field or a query parameter that its message does not have; nothing was done.",
  },
  UNKNOWN_HEADER: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning: "The request has a `hostplane-*` header that the gateway does not know; nothing was done.",
  },
  METHOD_NOT_FOUND: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "No service here has this method.",
  },
  DOMAIN_NOT_BUILT: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning:
      "The method is part of the contract, but this version of the gateway does not serve its domain yet.",
  },
  NOT_BUILT: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The domain is served, but not yet this method or this part of its request.",
  },
  UNSUPPORTED_COMPRESSION: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The request is compressed in a way the gateway does not read; the message lists those it does.",
  },
  COMPRESSION_NOT_NAMED: {
    code: "INTERNAL",
    retryable: false,
    meaning:
      "A message is marked as compressed, but no header says how; gRPC's specification gives this the code.",
  },
  REQUEST_CARDINALITY: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The request has no message, or more than one, and the method takes exactly one.",
  },
  MESSAGE_TOO_LARGE: {
    code: "RESOURCE_EXHAUSTED",
    retryable: false,
    meaning: "A message is larger than the limit of the listener.",
  },

  // Availability of domains and gateways
  DOMAIN_OFF: {
    code: "UNAVAILABLE",
    retryable: false,
    meaning: "The domain is not configured; the message says which key of the configuration turns it on.",
  },
  SERVICE_NOT_ON_LISTENER: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The service exists, but the listener that was asked does not serve it (`listen[].services`).",
  },
  HOST_NOT_ALLOWED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning:
      "The request names a host that is not the listener's: a listener without login answers only to its own.",
  },
  ORIGIN_NOT_ALLOWED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning: "The web page that asks is of an origin that `cors.origins` does not list.",
  },
  FORWARDED_NOT_ALLOWED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning:
      "The request has a header of a proxy; a listener without login refuses them unless it has `allowForwarded: true`.",
  },

  // Authentication and authorization
  LOGIN_REQUIRED: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning: "The method needs a login, and the call carries none.",
  },
  INVALID_CREDENTIALS: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning: "User name or password is wrong; which of them is told to nobody.",
  },
  TOKEN_INVALID: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning: "The token was not made by this gateway, or for another audience, or its account is gone.",
  },
  TOKEN_EXPIRED: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning: "The token was good, but its time is over; log in again.",
  },
  TOKEN_REVOKED: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning: "The token was given up by a logout, a new password or an admin; log in again.",
  },
  CERTIFICATE_UNKNOWN: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning: "The client certificate is good, but none of its names is a user's.",
  },
  ROLE_REQUIRED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning: "The caller's role may not call the method; the message names the role that may.",
  },
  SERVICE_NOT_ALLOWED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning: "The caller's role is limited to other services; the message lists them.",
  },
  TOO_MANY_LOGINS: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning: "Too many failed logins of this user or from this address; the error says when to try again.",
  },
  CALLER_LIMIT: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning:
      "The caller has met one of `limits.caller`; the message names it, and the error says when to try again.",
  },

  // Users and tokens
  USER_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "No user has this name.",
  },
  USER_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "A user of this name exists.",
  },
  LAST_ADMIN: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The user is the last admin, and stays one until there is another.",
  },
  CERTIFICATE_NAME_TAKEN: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "Another user has this certificate name.",
  },
  API_TOKEN_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "No API token has this name, or it is revoked.",
  },
  API_TOKEN_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "An API token of this name exists.",
  },

  // Idempotency and dry runs
  IDEMPOTENCY_KEY_REUSED: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning:
      "The `idempotency-key` was used within 24 hours for a call with another request; nothing was done.",
  },
  IDEMPOTENCY_KEY_NOT_TAKEN: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning: "The method takes no `idempotency-key`, since its answer holds secrets, which are not kept.",
  },
  IDEMPOTENCY_OUTCOME_UNKNOWN: {
    code: "ABORTED",
    retryable: false,
    meaning:
      "The gateway stopped during the first call with this `idempotency-key`; look whether it took effect, and go on with another key.",
  },
  NOT_PLANNABLE: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The method changes nothing, or nothing that could be told beforehand.",
  },

  // Deadlines and load
  DEADLINE: {
    code: "DEADLINE_EXCEEDED",
    retryable: true,
    meaning: "The deadline of the call passed. A mutation that had begun runs to its end all the same.",
  },
  CALLER_LEFT: {
    code: "CANCELLED",
    retryable: true,
    meaning: "The caller cancelled the call or closed its connection.",
  },
  SHUTTING_DOWN: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The gateway is stopping; ask again, here or at another replica.",
  },
  BUSY: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning: "Too many tools, changes or logins are waiting for their turn; the message names the limit.",
  },

  // The store
  STORE_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The database of the gateway cannot be reached, read or written now; the log says why.",
  },
  STORE_IN_USE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "Another process has the database file open, and only one may; the message names the file.",
  },
  STORE_MISSING: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "There is no database yet; the first start of the gateway makes it.",
  },
  STORE_KIND_MISMATCH: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The database was made by a sandbox and the gateway is a real one, or the other way round.",
  },
  MASTER_KEY_MISMATCH: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The database was made with another master key than the one that was given.",
  },
  STORE_NEWER: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "A newer version of the gateway has used the database; docs/upgrade.md says how to go back.",
  },
  STORE_NOT_EMPTY: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The database that is to be filled already holds tables.",
  },
  STORE_DAMAGED: {
    code: "DATA_LOSS",
    retryable: false,
    meaning:
      "The database file is damaged, or is no database; docs/upgrade.md says how to put back a backup.",
  },
  BACKUP_REFUSED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The backup was not written: its file exists or cannot be made, or the database is one of PostgreSQL.",
  },

  // Volumes
  DEVICE_CLASS_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "No device class has this name; the message lists those that exist.",
  },
  VOLUME_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The device class has no volume of this name.",
  },
  VOLUME_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "The volume group already has a volume of this name.",
  },
  VOLUME_GROUP_GONE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "The volume group (or thin pool) of the device class is not there now; its class works again once it is back.",
  },
  NO_SPACE: {
    code: "RESOURCE_EXHAUSTED",
    retryable: false,
    meaning: "The volume group or thin pool has less free space than asked; the message has both figures.",
  },
  SHRINK_NOT_ALLOWED: {
    code: "OUT_OF_RANGE",
    retryable: false,
    meaning: "ResizeLV never makes a volume smaller.",
  },
  VOLUME_IN_USE: {
    code: "FAILED_PRECONDITION",
    retryable: true,
    meaning: "The volume is open (mounted, or used by a process or another device).",
  },
  VOLUME_PROTECTED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The volume must not be changed: it matches `volumes.protect`, is a thin pool, is internal to LVM, or has snapshots.",
  },
  VOLUME_INACTIVE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The volume has no block device to be read, since it is not active; the message has the command.",
  },

  // Operations and events
  OPERATION_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning:
      "No operation has this id, or it is of a service that the caller may not call, or no longer kept.",
  },
  OPERATION_IN_PROGRESS: {
    code: "FAILED_PRECONDITION",
    retryable: true,
    meaning: "An operation works on the same thing; the message names it. Wait for its end, or cancel it.",
  },
  OPERATION_ENDED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The operation has ended, so there is nothing to cancel.",
  },
  OPERATION_CANCELLED: {
    code: "ABORTED",
    retryable: false,
    meaning: "The operation that the call waited for was cancelled; nothing of it is left.",
  },
  OPERATION_NOT_RETRYABLE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "Only an operation that FAILED or NEEDS_ATTENTION can be retried, and while its secrets are not needed.",
  },
  POINT_OF_NO_RETURN: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The operation has passed the step after which it cannot be taken back; it runs to its end.",
  },
  HISTORY_GONE: {
    code: "OUT_OF_RANGE",
    retryable: false,
    meaning:
      "Events after the cursor are no longer kept; `oldestCursor` in the error's metadata is the first place to go on from.",
  },
  SUBSCRIBER_TOO_SLOW: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning:
      "The subscriber did not keep up with the events; it can go on from `cursor` in the error's metadata.",
  },

  // Backups
  BACKUP_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no such backup, or its repository no longer holds it.",
  },
  BACKUP_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "The volume has a backup of this name already.",
  },
  BACKUP_TOO_YOUNG: {
    code: "FAILED_PRECONDITION",
    retryable: true,
    meaning: "The backup is younger than `volumes.backup.minimumAgeHours`, before which none is deleted.",
  },
  BACKUP_DAMAGED: {
    code: "DATA_LOSS",
    retryable: false,
    meaning: "What the repository holds is not what was backed up; the message says what is wrong.",
  },
  SNAPSHOT_FULL: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning:
      "The volume changed more during its backup than its snapshot has room for: raise `snapshotPercent` of its backups.",
  },
  VOLUME_TOO_SMALL: {
    code: "OUT_OF_RANGE",
    retryable: false,
    meaning: "The volume that was asked for is smaller than what it is to hold; nothing was made.",
  },
  ENDPOINT_NOT_ALLOWED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning: "The endpoint, the proxy or unverified TLS is not permitted by `volumes.backup.allowEndpoints`.",
  },
  REPOSITORY_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no repository of backups at the place that was named.",
  },
  REPOSITORY_KEY_WRONG: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The repository does not open with the encryption key that was given.",
  },
  REPOSITORY_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The store of the repository refuses its access key, or what is asked of it.",
  },
  REPOSITORY_UNREACHABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The store of the repository does not answer.",
  },
  REPOSITORY_LOCKED: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "Somebody else works on the repository in a way that keeps others out.",
  },

  // Hypervisors
  LIBVIRT_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The libvirt daemon cannot be reached, or does not answer in time; the gateway keeps trying.",
  },
  LIBVIRT_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The libvirt daemon does not let the gateway in, or not do this; the message says what to change.",
  },
  LIBVIRT_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning: "The libvirt daemon refused for a reason of its own; the message has its words.",
  },
  DOMAIN_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no domain of this name or UUID.",
  },
  DOMAIN_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "There is a domain of this name already.",
  },
  DOMAIN_STATE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The domain is in a state in which this cannot be done, such as running already or not running.",
  },
  STORAGE_POOL_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no storage pool of this name.",
  },
  STORAGE_VOLUME_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The storage pool has no volume of this name.",
  },
  STORAGE_VOLUME_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "The storage pool has a volume of this name already.",
  },
  STORAGE_VOLUME_IN_USE: {
    code: "ABORTED",
    retryable: true,
    meaning:
      "The volume, or the domain that has it as a disk, was used in a way that kept it from being read as a whole: a domain was started or stopped meanwhile, or somebody else backs it up.",
  },
  NETWORK_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no network of this name.",
  },
  NODE_DEVICE_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The host has no device of this name.",
  },
  AGENT_UNRESPONSIVE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "The guest agent of the domain does not answer: it is not installed, or its guest is not up yet.",
  },
  HYPERVISOR_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The inventory has no hypervisor of this id.",
  },
  HYPERVISOR_RUNNING: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The hypervisor runs already, so there is nothing to create.",
  },
  HYPERVISOR_OFF: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The hypervisor is off and was not created by the gateway, so there is nothing to destroy.",
  },
  HYPERVISOR_NOT_READY: {
    code: "UNAVAILABLE",
    retryable: false,
    meaning: "The hypervisor was started, but was not ready in the time that its template gives it.",
  },
  POOL_CANNOT_GROW: {
    code: "RESOURCE_EXHAUSTED",
    retryable: false,
    meaning:
      "The spare devices are fewer than asked for; the message says how much there is, and why others are not usable.",
  },
  POOL_CANNOT_SHRINK: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "No device can be taken out of the pool within what was asked for; the message has the numbers.",
  },
  POOL_FIXED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The pool is a directory, which is as large as its file system; it is made larger and smaller there.",
  },
  DEVICE_NOT_USABLE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The device is in use, holds something, or is no block device; it is never wiped and never forced.",
  },

  // Storage clusters
  CEPH_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The Ceph cluster cannot be reached, or does not answer in time; the gateway keeps trying.",
  },
  CEPH_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The Ceph cluster does not let the gateway in, or not do this; the message says what to change.",
  },
  CEPH_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning:
      "The Ceph cluster refused for a reason of its own, or answered something that the gateway does not understand.",
  },
  CEPH_OPERATOR_MISSING: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The gateway has a key of the Ceph cluster for reading only, and none for what changes something.",
  },
  CRASH_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The Ceph cluster has no report of a crash with this id.",
  },
  FIGURE_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "A figure without which there is no answer cannot be read from the storage cluster now; the message names it and why.",
  },
  KUBERNETES_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "The Kubernetes cluster cannot be reached, or does not answer in time; the gateway keeps trying.",
  },
  KUBERNETES_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The Kubernetes cluster does not let the gateway in, or not read this; the message says what to change.",
  },
  KOOR_CLUSTER_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The Kubernetes cluster has no KoorCluster in the namespace of `storage.kubernetes`.",
  },

  // MAAS
  MAAS_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "MAAS cannot be reached, is busy, or does not answer in time; what was asked of it may have happened all the same.",
  },
  MAAS_DENIED: {
    code: "INTERNAL",
    retryable: false,
    meaning: "MAAS does not let the gateway's account in, or not do this; the message says what to change.",
  },
  MAAS_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning:
      "MAAS failed for a reason of its own, or answered something that the gateway does not understand.",
  },
  MAAS_REFUSED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "MAAS refuses what it was asked with, such as a tag, pool, zone or image that it does not have; the message names the field.",
  },
  MACHINE_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "MAAS has no machine of this system id.",
  },
  MACHINE_TAKEN: {
    code: "ABORTED",
    retryable: false,
    meaning: "Somebody else has the machine, or it is not free; another may be.",
  },
  NO_MACHINE: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning: "MAAS has no free machine like the one that was asked for.",
  },
  MACHINE_STATE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The machine is in a state in which this cannot be done, such as deploying one that is deployed.",
  },
  MACHINE_LOCKED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The machine is locked in MAAS, so nothing is done to it.",
  },
  NO_ADDRESS: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning: "MAAS has no free IP address in the subnet.",
  },
  ADDRESS_TAKEN: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The IP address is in use already.",
  },
  MACHINE_FAILED: {
    code: "INTERNAL",
    retryable: true,
    meaning:
      "A machine could not be installed, or did not join its cluster in time; it is given back, and another is taken.",
  },
  MACHINE_IN_USE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "A cluster has the machine, so it is no stray; the message names the cluster.",
  },
  STRAY_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "MAAS has given the gateway's account no machine of this system id.",
  },
  STRAY_NOT_ADOPTABLE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The machine cannot be taken into a cluster; the message says why.",
  },

  // Clusters
  CLUSTER_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no cluster of this name.",
  },
  CLUSTER_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning:
      "There is a cluster of this name; one that is being taken down has its name until its last machine is given back.",
  },
  CLUSTER_STOPPING: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The cluster is being taken down, so nothing else is done to it.",
  },
  CLUSTER_CHANGED: {
    code: "ABORTED",
    retryable: true,
    meaning: "Others changed the cluster again and again meanwhile; nothing was done.",
  },
  CLUSTER_OF_OTHER_MAAS: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The cluster's machines are of another MAAS than the one that is configured; nothing is done to it from here.",
  },
  CLUSTER_ENDPOINT_MISSING: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "This needs an address that a cluster keeps when its machines change, and the gateway has none to give: set `clusters.endpoint`.",
  },
  NO_ENDPOINT: {
    code: "RESOURCE_EXHAUSTED",
    retryable: false,
    meaning: "Every address of `clusters.endpoint.addresses` is a cluster's already.",
  },
  NO_IMAGE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "MAAS has no image with this version of Kubernetes for machines of this type; docs/maas-images.md says how one is named.",
  },
  POOL_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The cluster has no node pool of this name; the message names all that are missing.",
  },
  POOL_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "The cluster has a node pool of this name already.",
  },
  POOL_STOPPING: {
    code: "FAILED_PRECONDITION",
    retryable: true,
    meaning: "A node pool of this name was deleted just now, and its machines do not know yet.",
  },
  SCALE_TO_ZERO: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning:
      "A node pool of no machines was asked for, which is also what a forgotten count reads as; DeleteNodePool removes a pool.",
  },
  UPGRADE_IN_PROGRESS: {
    code: "FAILED_PRECONDITION",
    retryable: true,
    meaning: "The cluster is being upgraded, and can be changed when every machine has its version.",
  },
  UPGRADE_REFUSED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "Kubernetes cannot be upgraded like that: it goes upwards, and skips no minor version; the message says from where to where.",
  },

  // Workload clusters
  WORKLOAD_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "A cluster that the gateway has made cannot be reached, or cannot do this now; what was asked of it may have happened all the same.",
  },
  WORKLOAD_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "A cluster that the gateway has made does not take its certificate, or does not allow this.",
  },
  WORKLOAD_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning:
      "A cluster that the gateway has made refused for a reason of its own, or answered something that is not understood.",
  },

  // Pods
  PODMAN_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "Podman cannot be reached, or does not answer in time; the gateway keeps trying.",
  },
  PODMAN_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The gateway may not open Podman's socket; the message says what to change.",
  },
  PODMAN_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning:
      "Podman refused for a reason of its own, or answered something that the gateway does not understand; the message has its words.",
  },
  POD_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no pod of this id.",
  },
  POD_STATE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The pod is in a state in which this cannot be done, such as removing one that runs or killing one that does not.",
  },
  POD_START_FAILED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "A container of the pod, or more than one, does not start; the message has the words of the runtime.",
  },
  CONTAINER_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no container of this id.",
  },
  LOGS_UNAVAILABLE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "Nothing keeps what the container prints, as with the log driver `none`.",
  },
  IMAGE_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no image of this id.",
  },
  IMAGE_IN_USE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "Containers use the image, so it stays.",
  },
  IMAGE_PULL_FAILED: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The image could not be pulled; the message has the words of the runtime.",
  },

  // Tools of the host
  TOOL_MISSING: {
    code: "UNAVAILABLE",
    retryable: false,
    meaning:
      "A program the domain needs is not installed or cannot be started; `hostplane doctor` says how to get it.",
  },
  TOOL_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning:
      "A tool of the host failed in a way the gateway has no better reason for; the message has the tool's own words.",
  },
  TOOL_TIMEOUT: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "A reading tool did not answer in time and was stopped.",
  },
  TOOL_OUTPUT: {
    code: "INTERNAL",
    retryable: false,
    meaning: "A tool answered something the gateway does not understand.",
  },
  SERVICE_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The health service knows no service of this name.",
  },
  INTERNAL: {
    code: "INTERNAL",
    retryable: false,
    meaning: "A fault of the gateway itself; the log has it under the request id of the answer.",
  },
} as const satisfies Record<string, Reason>;

export type ReasonName = keyof typeof reasons;
