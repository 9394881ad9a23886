/** What became of a claim's stream that is `missing`: a sentence. */
export function goneText(stream: string, isReplaced: boolean | undefined): string {
  if (isReplaced) return `the stream ${stream} of this claim was removed, and another has its name now`
  return `the stream ${stream} is gone`
}
