import { InvalidValue } from '../stream/errors.ts'

/** @throws InvalidValue unless it can be the name of a subscription */
export function checkSubscriptionName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(name)) return
  throw new InvalidValue(`${JSON.stringify(name)} is not a name of a subscription`, {
    hint: 'Use at most 63 letters, digits, dots, dashes and underscores; the first is a letter or digit.',
  })
}
