/** Mutations without a plan, with the reason. */
export const unplanned: Readonly<Record<string, string>> = {
  "csi.v1.Controller/ControllerPublishVolume": "the driver does not support it",
  "csi.v1.Controller/ControllerUnpublishVolume": "the driver does not support it",
  "csi.v1.Controller/ControllerModifyVolume": "the driver does not support it",
  "services.auth.AuthService/Login":
    "it creates a token, and a plan would reveal whether the password is right",
  "hostplane.v1.LoginService/FinishLogin": "it uses up the code of the login",
  "hostplane.v1.LoginService/FinishDeviceLogin": "it uses up the code of the login",
  "hostplane.v1.UserService/ChangePassword":
    "a plan would reveal whether a password is right without counting as a failed login",
  "services.auth.AuthService/Logout": "it only ends the caller's own session",
  "hostplane.v1.EnrollmentService/Enroll":
    "programs call it, and a plan would reveal whether a code is right",
  "hostplane.v1.EnrollmentService/RenewCertificate":
    "programs call it, and nothing but the certificate changes",
  "hostplane.v1.FleetService/CallHosts": "each host plans its own change",
  "hostplane.v1.MembershipService/JoinFleet":
    "only the hub can say whether the token is right, and uses it up",
  "hostplane.v1.PlanService/CreatePlan": "it only saves a plan, which it also returns",
  "hostplane.v1.PlanService/ApplyPlan": "its plan is already saved",
  "hostplane.v1.PlanService/DeletePlan": "it only removes a saved plan",
  "hostplane.v1.PlanService/ApprovePlan": "it only adds an approval to a saved plan",
  "hostplane.v1.PlanService/BreakGlass": "it stands for the approvals of a saved plan",
  "hostplane.v1.MembershipService/LeaveFleet": "it only ends the membership",
  "hostplane.v1.OperationService/CancelOperation":
    "what is undone depends on the step that is running at that time",
  "hostplane.v1.OperationService/RetryOperation":
    "it continues the operation, which already describes its steps",
};
