/** Permissions that no request of the emulated stack used, with the reason to have them. */
export const unusedGrants: readonly { grants: RegExp; reason: string }[] = [
  {
    grants: /: logs:(CreateLogStream|PutLogEvents) /,
    reason: 'Lambda itself writes the log, with the role of the function.',
  },
  {
    grants: /^Watch\w*Role: logs:/,
    reason: 'Step Functions itself sets up its log, with the role of the state machine.',
  },
  {
    grants:
      /^WebhooksDeliverRole: sqs:(ReceiveMessage|DeleteMessage|GetQueue\w+) |: sqs:SendMessage on \S+DeadLetters$/,
    reason: 'Lambda itself polls the queue, and sends what failed to the dead letters.',
  },
  {
    grants: /: lambda:InvokeFunction on \S+:function:\w+$/,
    reason: 'Instances and executions of earlier releases invoke a function without its alias.',
  },
  { grants: /^StreamRole: /, reason: 'A tool of MCP can be any endpoint.' },
  { grants: /: s3:ListBucket /, reason: 'Makes a missing object a 404; none was missing.' },
  { grants: /^HttpApiRole: cloudwatch:DescribeAlarms /, reason: 'The suite reads no alarms.' },
  {
    grants: /^EventsStreamRole: (s3:GetObject on \S+\/evidence\/|secretsmanager:\w+ on \S+Master$)/,
    reason: 'Pictures in event streams of watches, and the links to them.',
  },
  {
    grants: / on \S+\/moments\//,
    reason: 'Pictures of moments in events, and the rest of a removal that takes too long for its response.',
  },
  {
    grants: /: s3:\w+ on \S+\/clips\/\*$|^WebhooksDeliverRole: lambda:InvokeFunction /,
    reason:
      'The suite reads clips from the function that streams only, and its clips are recorded without a call.',
  },
  {
    grants: /^AnalyzeRole: (states:StopExecution |s3:DeleteObject on \S+\/evidence\/)/,
    reason: 'A job that fails, and a tick of a watch that was deleted meanwhile.',
  },
  {
    grants: /^(Analyze|WebhooksDeliver|Reconcile)Role: dynamodb:(BatchGet|ConditionCheck|Delete|Put)Item /,
    reason: 'Commits of other kinds by the same store: deletions, lost jobs, addresses that are erased.',
  },
  {
    grants: /^ReconcileRole: (states:|dynamodb:Query on \S+\/index\/|lambda:InvokeFunction on \S+:live$)/,
    reason: 'Repairs; nothing was interrupted.',
  },
];
