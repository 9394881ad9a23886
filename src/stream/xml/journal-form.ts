import { isBlank } from './text.ts'

/** After the prefix: a name and attributes between double quotes, one blank before each, ids without references. */
const REST_OF_TAG = /[^\s"'<>=/:]+(?: (?:(?!cmd=)[^\s"'<>=/]+="[^"<>]*"|cmd="[^"<>&]*")){0,30}\/?>/y

/**
 * True if the journal's raw content is in the form in which we write it: tags of our namespace under the document's
 * prefix and white space. In that form a search for ` cmd="ID"` finds every entry with the id and nothing else.
 */
export function isNormalJournal(raw: string, prefix: string): boolean {
  const open = `<${prefix}:`
  const close = `</${prefix}:`
  let at = 0
  while (at < raw.length) {
    const tag = raw.indexOf('<', at)
    if (tag === -1 || !isBlank(raw, at, tag)) return false
    if (raw.startsWith(open, tag)) REST_OF_TAG.lastIndex = tag + open.length
    else if (raw.startsWith(close, tag)) REST_OF_TAG.lastIndex = tag + close.length
    else return false
    if (!REST_OF_TAG.test(raw)) return false
    at = REST_OF_TAG.lastIndex
  }
  return true
}
