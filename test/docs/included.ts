/** A file of this checkout that a page includes. */
export interface Included {
  /** From the root of the checkout. */
  readonly path: string
  /** The text in the page. */
  readonly text: string
}

const MARK = /^<!-- file: (\S+) -->$/

/** The files a page includes: each a block after `<!-- file: PATH -->`. @throws Error for a mark without a block */
export function includedIn(page: string): Included[] {
  const lines = page.split('\n')
  return lines.flatMap((line, at) => {
    const path = MARK.exec(line)?.[1]
    if (path === undefined) return []
    const end = lines.indexOf('```', at + 2)
    if (!/^```\w/.test(lines[at + 1] ?? '') || end < 0) throw new Error(`line ${at + 1}: no block follows`)
    return [{ path, text: lines.slice(at + 2, end).join('\n') }]
  })
}

/** The page with the current files. */
export function withFiles(page: string, textOf: (path: string) => string): string {
  const lines = page.split('\n')
  for (let at = lines.length - 1; at >= 0; at--) {
    const path = MARK.exec(lines[at] ?? '')?.[1]
    if (path === undefined) continue
    lines.splice(at + 2, lines.indexOf('```', at + 2) - at - 2, ...textOf(path).trimEnd().split('\n'))
  }
  return lines.join('\n')
}
