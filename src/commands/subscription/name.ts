import { inFlag } from '../../cli/values.ts'
import { checkFolderName } from '../../store/names.ts'

/** Reads the name of a subscription. */
export function subscriptionName(flag: string): (text: string) => string {
  return text => {
    inFlag(flag, () => checkFolderName(text, 'a subscription'))
    return text
  }
}
