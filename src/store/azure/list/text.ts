/**
 * The text of the first element of that name; `undefined` if there is none or it is written as one tag. Right where nobody
 * but the service chooses names of elements and where no element holds another: not for metadata.
 */
export function elementText(xml: string, name: string): string | undefined {
  const open = `<${name}>`
  const at = xml.indexOf(open)
  if (at < 0) return undefined
  const from = at + open.length
  return plain(xml.slice(from, xml.indexOf('<', from)))
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text with its entities replaced. */
export function plain(text: string): string {
  if (text.indexOf('&') < 0) return text
  return text.replace(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (whole, hex?: string, dec?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole
    const point = hex === undefined ? Number(dec) : Number.parseInt(hex, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
}
