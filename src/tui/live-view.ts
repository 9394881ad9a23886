/** A few lines at the bottom of the terminal that are drawn again in place. */
export interface LiveView {
  /** How many lines fit on the screen now; it changes with the terminal. */
  readonly height: number
  /** Lines for the screen, already fitted to its width; those that exceed its height are cut from the top's end. */
  draw(lines: readonly string[]): void
  /** Removes the lines; what is printed next starts where they stood. */
  close(): Promise<void>
}

/** Opens a live view with Ink. For terminals only; elsewhere print lines. */
export async function openLiveView(stdout: NodeJS.WriteStream): Promise<LiveView> {
  const [{ render }, { createElement }, { LiveLines }] = await Promise.all([
    import('ink'),
    import('react'),
    import('./ink/LiveLines.tsx'),
  ])
  const app = render(createElement(LiveLines, { lines: [] }), { stdout, exitOnCtrlC: false, patchConsole: false })
  // A frame as high as the screen would scroll it.
  const height = () => Math.max(1, (stdout.rows ?? 24) - 1)
  return {
    get height() {
      return height()
    },
    draw(lines) {
      app.rerender(createElement(LiveLines, { lines: lines.slice(0, height()) }))
    },
    async close() {
      app.clear()
      app.unmount()
      await app.waitUntilExit()
    },
  }
}
