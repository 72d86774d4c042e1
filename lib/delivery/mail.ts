import type { ServiceFunction } from '../function/service-function.ts';
import type { StageSettings } from '../stages/stage-settings.ts';

type MailStage = Pick<StageSettings, 'smtpSecretArn' | 'emailFrom' | 'emailRecipients'>;

/** Returns the environment variables of a function that sends e-mail. */
export function mailEnvironment({ smtpSecretArn, emailFrom, emailRecipients }: MailStage) {
  return {
    SMTP_SECRET_ARN: smtpSecretArn,
    EMAIL_FROM: emailFrom,
    EMAIL_RECIPIENTS: emailRecipients.length === 0 ? undefined : emailRecipients.join(','),
  };
}

/** Grants reading of the URL of the SMTP server, if the stage has one. */
export function allowMail(to: ServiceFunction, { smtpSecretArn }: MailStage): void {
  if (smtpSecretArn !== undefined) to.allow(['secretsmanager:GetSecretValue'], [smtpSecretArn]);
}
