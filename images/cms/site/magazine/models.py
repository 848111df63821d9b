"""The kinds of pages that the magazine has."""

from django.db import models
from django.utils import timezone
from modelcluster.contrib.taggit import ClusterTaggableManager
from modelcluster.fields import ParentalKey
from taggit.models import TaggedItemBase
from wagtail import blocks
from wagtail.admin.panels import FieldPanel, MultiFieldPanel
from wagtail.fields import RichTextField, StreamField
from wagtail.images.blocks import ImageChooserBlock
from wagtail.models import Page
from wagtail.search import index


class HomePage(Page):
    motto = models.CharField(max_length=200, blank=True)
    content_panels = Page.content_panels + [FieldPanel("motto")]
    max_count = 1

    def get_context(self, request):
        context = super().get_context(request)
        articles = ArticlePage.objects.live().select_related("picture").order_by("-date", "-pk")
        context["lead"], context["articles"] = articles.first(), articles[1:13]
        context["events"] = EventPage.objects.live().filter(starts__gte=timezone.now()).order_by("starts")[:6]
        return context


class SectionPage(Page):
    intro = models.CharField(max_length=250, blank=True)
    content_panels = Page.content_panels + [FieldPanel("intro")]
    search_fields = Page.search_fields + [index.SearchField("intro")]

    def get_context(self, request):
        context = super().get_context(request)
        context["articles"] = ArticlePage.objects.live().child_of(self).select_related("picture").order_by("-date", "-pk")
        context["events"] = EventPage.objects.live().child_of(self).order_by("starts")
        return context


class ArticleTag(TaggedItemBase):
    content_object = ParentalKey("ArticlePage", related_name="tagged_items", on_delete=models.CASCADE)


class ArticlePage(Page):
    date = models.DateField()
    author = models.CharField(max_length=80)
    lead = models.TextField(max_length=400)
    picture = models.ForeignKey("wagtailimages.Image", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    body = StreamField([
        ("heading", blocks.CharBlock(form_classname="title")), ("paragraph", blocks.RichTextBlock()),
        ("quote", blocks.BlockQuoteBlock()), ("image", ImageChooserBlock()),
    ])
    tags = ClusterTaggableManager(through=ArticleTag, blank=True)
    content_panels = Page.content_panels + [
        MultiFieldPanel([FieldPanel("date"), FieldPanel("author"), FieldPanel("tags")], heading="About the article"),
        FieldPanel("lead"), FieldPanel("picture"), FieldPanel("body"),
    ]
    search_fields = Page.search_fields + [index.SearchField("lead"), index.SearchField("body"), index.SearchField("author"), index.FilterField("date")]


class EventPage(Page):
    starts = models.DateTimeField()
    place = models.CharField(max_length=120)
    text = RichTextField(blank=True)
    content_panels = Page.content_panels + [FieldPanel("starts"), FieldPanel("place"), FieldPanel("text")]
    search_fields = Page.search_fields + [index.SearchField("text"), index.SearchField("place")]


class TextPage(Page):
    text = RichTextField(blank=True)
    content_panels = Page.content_panels + [FieldPanel("text")]
    search_fields = Page.search_fields + [index.SearchField("text")]
