import { inFlag } from '../../cli/values.ts'
import { checkSubscriptionName } from '../../store/names.ts'

/** Reads the name of a subscription. */
export function subscriptionName(flag: string): (text: string) => string {
  return text => {
    inFlag(flag, () => checkSubscriptionName(text))
    return text
  }
}
