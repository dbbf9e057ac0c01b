"""Names of people, firms and streets for the built-in model's data: invented combinations of common words.

This module holds pools and draws from them; which record gets which name is the patterns' business.
"""

from envscaler.model.builtin.pattern import Rng, pick, shuffled

GIVEN = """
    Adele Aisha Alma Amara Anton Asta Bela Bruno Camille Carlos Celia Chiara Clara Daniel Daria David
    Edith Elena Elias Emil Esther Fatima Felix Fiona Flora Gabriel Gita Greta Hanna Hassan Henrik Hiro
    Ida Ines Ingrid Isak Ivan Jana Jasper Joana Jonas Julia Kamal Karin Kenji Klara Laila Lars Leon Lina
    Livia Lucas Luisa Magnus Maja Marco Maria Marta Milan Mina Mira Nadia Nils Nina Noor Olga Omar Oscar
    Paula Pavel Petra Priya Rafael Ravi Rita Rosa Ruben Samir Sara Selma Sofia Stefan Tara Teresa Theo
    Tomas Ulla Vera Viktor Wanda Yara Yusuf Zoe
""".split()
FAMILY = """
    Abadi Almeida Andersen Aydin Bakker Barros Becker Berg Bianchi Blum Brandt Castro Chandra Costa Dahl
    Dietrich Dubois Duarte Eriksen Fabre Farkas Ferrari Fischer Fontaine Forster Fuchs Garcia Greco
    Haddad Hansen Hartmann Haugen Hoffmann Holm Horvath Ibarra Ito Jansen Kaya Keller Khan Klein Kovacs
    Kowalski Larsen Laurent Lehmann Lindgren Lopez Lund Maier Marino Martins Mendes Meyer Moreau Mori
    Nakamura Navarro Nilsson Novak Olsen Ortega Osei Papadakis Patel Pereira Petrov Quist Ramos Richter
    Rossi Roth Sanchez Santos Sato Schneider Silva Simons Sorensen Suzuki Takeda Thorsen Toth Ueda Vogel
    Wagner Weber Winter Yilmaz Zanetti Ziegler
""".split()
PLACE = """
    Alder Amber Birch Bridge Canal Cedar Clover Crown Elm Falcon Fern Garden Granite Harbour Hazel Heron
    Hill Ivy Lake Larch Laurel Linden Maple Meadow Mill North Oak Orchard Park Pine River Rose Rowan
    South Spring Stone Summit Sunset Valley Willow
""".split()


def people(rng: Rng, count: int, taken: frozenset[str] = frozenset()) -> list[str]:
    """Full names, no family name twice, none of those taken."""
    used = {name.split()[-1] for name in taken}
    families = [family for family in shuffled(rng, FAMILY) if family not in used]
    return [f"{pick(rng, GIVEN)} {family}" for family in families[:count]]


def email(name: str, host: str = "example.org") -> str:
    """The address that goes with a name."""
    return f"{name.lower().replace(' & ', ' ').replace(' ', '.')}@{host}"


def phone(rng: Rng) -> str:
    """A telephone number of a range that is kept for fiction."""
    return f"555-{rng.integers(100, 1000)}-{rng.integers(1000, 10000)}"
