/** The texts in the fields of a form, by name. */
export const sentFields = (
  form: HTMLFormElement,
  names: ReadonlyArray<string>
): Readonly<Record<string, string>> => {
  const sent = new FormData(form)
  const text = (name: string) => {
    const value = sent.get(name)
    return typeof value === "string" ? value.trim() : ""
  }
  return Object.fromEntries(names.map((name) => [name, text(name)]))
}
