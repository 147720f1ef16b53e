"""The front door quotes in the browser what Python quotes, and says without scripts what it says with them."""

import itertools
import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from scripts import quote as verb
from scripts.estimate import answer, classic, dollars, question
from scripts.estimate.points import PRECISIONS
from scripts.pages import quote
from scripts.storage.errors import InputError
from scripts.workflow import estimates
from tests.conftest import ROOT
from tests.pages_in_browser import browser, opened  # noqa: F401, a fixture

TODAY = "2026-11-25"
